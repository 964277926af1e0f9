"""Django's settings in tests: those of the console, on the servers of the test run."""

from tests.servers import prepare, run

prepare()

from console.settings import *  # noqa: E402, F403
from console.settings import DATABASES  # noqa: E402

DATABASES["default"]["TEST"] = {"NAME": f"test_siding_{run()}"}  # several runs may share a server
DATABASES["default"]["CONN_MAX_AGE"] = 0
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
