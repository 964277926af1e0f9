"""`make screenshots`: every page, light and dark, wide and 360 px, of one synthetic story, into `screenshots/`."""
