"""Pages: each parses, authorises, calls one verb and renders. One module for each noun."""
