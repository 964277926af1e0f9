"""`make screenshots`: every page, light and dark, wide and 360 px, of the world of `manage.py life`."""
