"""`python -m tests.templates`: every template can be read, every tag and filter in it exists. Part of `make check`."""

import os
import sys
from pathlib import Path

import django
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template


def main() -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings"
    django.setup()
    folder = Path("templates")
    faults = []
    for path in sorted(folder.rglob("*.html")):
        try:
            get_template(str(path.relative_to(folder)))
        except (TemplateSyntaxError, TemplateDoesNotExist) as fault:
            faults.append(f"{path}: {fault}")
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
