"""Django's settings, made from `console.environment`."""

import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from csp.constants import NONE, SELF
from psycopg.conninfo import conninfo_to_dict

from console.environment import Misconfigured, environment
from console.logs import configure

try:
    SIDING = environment()
except Misconfigured as error:
    sys.exit(str(error))

BASE_DIR = Path(__file__).resolve().parent.parent
DEPLOYED = SIDING.environment in ("production", "staging")

SECRET_KEY = SIDING.secret_key.get_secret_value()
DEBUG = SIDING.debug
ALLOWED_HOSTS = list(SIDING.allowed_hosts)
BASE_URL = str(SIDING.base_url).rstrip("/")
CSRF_TRUSTED_ORIGINS = [BASE_URL]
ENVIRONMENT = SIDING.environment

INSTALLED_APPS = [
    "console",
    "replay",
    "parking",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "csp",
    "django_htmx",
    "django_linear_migrations",
    "django_rq",
    "django_structlog",
    "pgtrigger",
    "template_partials",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",  # a page that forgets to ask is closed, not open
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "console.zone.ViewerZone",
    "django_structlog.middlewares.RequestMiddleware",
]

ROOT_URLCONF = "console.urls"
WSGI_APPLICATION = "console.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.pages.shell.context",
            ],
        },
    },
]


def _database(url: str) -> dict[str, object]:
    """Django's form of a libpq address; parameters that Django has no name for go on as they are."""
    parts = conninfo_to_dict(url)
    named = {name.upper(): str(parts.pop(name, None) or "") for name in ("host", "port", "user", "password")}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": str(parts.pop("dbname", None) or "siding"),
        **named,
        "OPTIONS": {"connect_timeout": 5, "application_name": "siding", **parts},
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _next_database(url: str) -> str:
    """The same Redis, one database further: what empties one queue leaves the other alone."""
    parts = urlsplit(url)
    number = int(parts.path.strip("/") or 0) + 1
    return urlunsplit(parts._replace(path=f"/{number}"))


DATABASES = {"default": _database(SIDING.database_url)}

# Sessions and sign-in
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BASE_URL.startswith("https:")
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "console.pages.failure.forged"
LOGIN_URL = "/signin"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/signin"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# What a browser may do with our pages: our own files, nothing inline, nothing of others.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
# Encryption ends at a proxy in front; `manage.py check` says what is wrong with SIDING_BASE_URL, on which these follow.
SILENCED_SYSTEM_CHECKS = [f"security.W{number}" for number in ("004", "005", "008", "012", "016", "021")]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if BASE_URL.startswith("https:") else 0
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024  # an amended value comes as a form
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BASE_URL.startswith("https:") else None

# Static files
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "static-collected" if DEPLOYED else None
WHITENOISE_USE_FINDERS = not DEPLOYED  # nothing to collect first in the demo
_PLAIN, _HASHED = (
    "django.contrib.staticfiles.storage.StaticFilesStorage",
    "whitenoise.storage.CompressedManifestStaticFilesStorage",
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _HASHED if DEPLOYED else _PLAIN},
}

# Time and language
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = SIDING.time_zone

# Replays: Celery on Redis. The message is an id, the database is the truth; a message may be lost or come twice.
CELERY_BROKER_URL = SIDING.redis_url
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 4 * SIDING.replay_lease_seconds,  # a killed worker's message comes back
    "socket_connect_timeout": 5,
    "socket_timeout": 10,
    "socket_keepalive": True,
    "retry_on_timeout": True,
    "health_check_interval": 10,
    "max_retries": 1,  # a person does not wait for Redis: watch queues again what could not be queued
    "interval_start": 0.2,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_DEFAULT_QUEUE = "replays"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = SIDING.replay_lease_seconds
CELERY_TASK_TIME_LIMIT = SIDING.replay_lease_seconds + 10
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False

# Alerts and exports: a queue of their own, so that a flood of replays can never delay a page.
RQ_QUEUES = {"alerts": {"URL": _next_database(CELERY_BROKER_URL), "DEFAULT_TIMEOUT": 60}}

# How alerts leave
ALERT_BUDGET_SECONDS = SIDING.alert_budget_seconds
ALERT_TAKEOVER_SECONDS = SIDING.alert_takeover_seconds
OUTBOUND_ALLOW = SIDING.outbound_allow
_SMTP = urlsplit(SIDING.smtp_url)
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST = _SMTP.hostname or ""
EMAIL_PORT = _SMTP.port or (465 if _SMTP.scheme == "smtps" else 25)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_SMTP.username or ""), unquote(_SMTP.password or "")
EMAIL_USE_SSL = _SMTP.scheme == "smtps"
EMAIL_USE_TLS = _SMTP.query == "tls=start"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SIDING.email_from

# Who may read /metrics
METRICS_TOKEN = SIDING.metrics_token.get_secret_value()
METRICS_ALLOW = SIDING.metrics_allow

# What replay and parking need to know; they may not import console.
KAFKA_BOOTSTRAP_SERVERS = SIDING.kafka_bootstrap_servers
FLOW_SECRETS = {flow: secret.get_secret_value().encode() for flow, secret in SIDING.flow_secrets.items()}
CLUSTER_SECRETS = {
    cluster: {name: secret.get_secret_value() for name, secret in given.items()}
    for cluster, given in SIDING.cluster_secrets.items()
}
REPLAY_LEASE_SECONDS = SIDING.replay_lease_seconds
REPLAY_TICK_SECONDS = SIDING.replay_tick_seconds
WATCH_INTERVAL_SECONDS = SIDING.watch_interval_seconds

LOGGING = configure(level=SIDING.log_level, json=DEPLOYED)
