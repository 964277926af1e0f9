"""The databases of the console and of the sample service, on one server."""

from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from console.demo.trouble import Trouble

NAME = "disputes"


def service_database(database_url: str, *, anew: bool = False) -> str:
    """Make both where they are missing, or `anew` and empty; returns the address of the service's. Raises Trouble."""
    parts = urlsplit(database_url)
    try:
        with psycopg.connect(database_url, autocommit=True, connect_timeout=10, dbname="postgres") as connection:
            for name in (parts.path.strip("/"), NAME):
                if anew:
                    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
                _make(connection, name)
    except psycopg.Error as error:
        raise Trouble(
            f"the databases could not be made ({str(error).strip()}): "
            f"is SIDING_DATABASE_URL right, and may its user create databases?"
        ) from None
    return urlunsplit(parts._replace(path=f"/{NAME}"))


def _make(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
