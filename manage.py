#!/usr/bin/env python
"""Runs Siding's commands: ``manage.py intake``, ``watch``, ``inspect``, ``migrate`` and Django's own."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    execute_from_command_line(sys.argv)
