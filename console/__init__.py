"""The Django project: settings, access, pages, commands. The only layer that knows people's sessions and HTTP."""
