"""PostgreSQL: answers, is new enough, writable, knows all letters, and is migrated to exactly this version."""

from contextlib import closing

from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's own name
from django.db import Error as DatabaseFault
from django.db import NotSupportedError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from parking.trouble import advice

OLDEST = 15
WHERE = "SIDING_DATABASE_URL"
OURS = ("parking", "replay", "console")
UPPER, LOWER = "ЗАКАЗ", "заказ"  # one word, except to a database of the locale C
SHOWN = 3

KIND = """
SELECT pg_encoding_to_char(encoding), datctype,
       current_setting('transaction_read_only') = 'on',
       current_setting('default_toast_compression') = 'lz4'
       OR NOT (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression')
FROM pg_database WHERE datname = current_database()
"""


def look(**_: object) -> list[CheckMessage]:
    return faults(connections["default"].copy())


def faults(connection: BaseDatabaseWrapper) -> list[CheckMessage]:
    """What is wrong with the database that `connection`, which is closed after it, leads to."""
    where = connection.settings_dict
    place = f"PostgreSQL at {where['HOST']}:{where['PORT'] or 5432}/{where['NAME']}"
    try:
        with closing(connection):
            with connection.cursor() as cursor:
                cursor.execute("SET statement_timeout = '5s'")
            return [*version(_version(connection)), *_kind(connection, place), *_migrations(connection)]
    except NotSupportedError as error:
        return [Error(f"{place}: {error}.", hint=f"Use PostgreSQL {OLDEST} or newer.", obj=WHERE, id="siding.E202")]
    except DatabaseFault as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        return [Error(f"{place} cannot be used: {said}", hint=_sentence(advice(said)), obj=WHERE, id="siding.E201")]


def version(number: int) -> list[CheckMessage]:
    """`number` as in server_version_num: 180001."""
    if number >= OLDEST * 10_000:
        return []
    fault = f"PostgreSQL {number // 10_000}.{number % 10_000} is too old."
    return [Error(fault, hint=f"Use PostgreSQL {OLDEST} or newer.", obj=WHERE, id="siding.E202")]


def _version(connection: BaseDatabaseWrapper) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        return int(cursor.fetchone()[0])


def _kind(connection: BaseDatabaseWrapper, place: str) -> list[CheckMessage]:
    with connection.cursor() as cursor:
        cursor.execute(KIND)
        encoding, ctype, read_only, compresses_well = cursor.fetchone()
        cursor.execute("SELECT lower(%s) = %s", [UPPER, LOWER])
        knows_letters = encoding != "UTF8" or cursor.fetchone()[0]
    found: list[CheckMessage] = []
    if read_only:
        hint = "Point SIDING_DATABASE_URL to the primary, or undo default_transaction_read_only."
        found.append(Error(f"{place} is a standby or read-only.", hint=hint, obj=WHERE, id="siding.E203"))
    if encoding != "UTF8":
        fault = f"{place} has the encoding {encoding}: most of what is parked could not be stored."
        found.append(Error(fault, hint=_anew(place), obj=WHERE, id="siding.E204"))
    if not knows_letters:
        fault = f"{place} has LC_CTYPE {ctype}: search tells upper and lower case of other letters apart."
        found.append(Warning(fault, hint=_anew(place), obj=WHERE, id="siding.W205"))
    if not compresses_well:
        hint = "ALTER SYSTEM SET default_toast_compression = 'lz4' (then SELECT pg_reload_conf()): less disk, faster."
        found.append(Info(f"{place} compresses payloads by pglz.", hint=hint, obj=WHERE, id="siding.I206"))
    return found


def _anew(place: str) -> str:
    name = place.rpartition("/")[2]
    return (
        f"Make the database anew: CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'; "
        "what is in it already comes along by pg_dump and pg_restore."
    )


def _migrations(connection: BaseDatabaseWrapper) -> list[CheckMessage]:
    known, applied = set(MigrationLoader(None).disk_migrations), _applied(connection)
    found: list[CheckMessage] = []
    if missing := sorted(known - applied):
        fault = f"The database is older than this version: {_named(missing)} not applied."
        found.append(Error(fault, hint="Run `manage.py migrate`.", obj=WHERE, id="siding.E207"))
    if newer := sorted(migration for migration in applied - known if migration[0] in OURS):
        fault = f"The database is newer than this version: it has {_named(newer)}."
        hint = "Run the version that migrated it, or restore the backup from before (docs/running.md)."
        found.append(Error(fault, hint=hint, obj=WHERE, id="siding.E208"))
    return found


def _applied(connection: BaseDatabaseWrapper) -> set[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        if not cursor.fetchone()[0]:
            return set()
        cursor.execute("SELECT app, name FROM django_migrations")
        return set(cursor.fetchall())


def _named(migrations: list[tuple[str, str]]) -> str:
    names = [f"{app}.{name}" for app, name in migrations]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
