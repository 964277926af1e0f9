"""Takes the pictures. `ARGS="key replay"` takes only those whose names contain one of the words."""

import os
import sys

import django

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright runs an event loop in this thread
    django.setup()

    from tests.screenshots.camera import take_all

    sys.exit(take_all(sys.argv[1:]))
