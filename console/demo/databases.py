"""The sample service's own database, on the same server as the console's."""

from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from console.demo.trouble import Trouble

NAME = "disputes"


def service_database(database_url: str, *, anew: tuple[str, ...] = ()) -> str:
    """Make the service's database where it is missing; returns its address. `anew` names databases to empty first.

    Raises Trouble.
    """
    try:
        with psycopg.connect(database_url, autocommit=True, connect_timeout=10, dbname="postgres") as connection:
            for name in anew:
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
                _make(connection, name)
            _make(connection, NAME)
    except psycopg.Error as error:
        raise Trouble(
            f"the database {NAME} could not be made ({str(error).strip()}): "
            f"is SIDING_DATABASE_URL right, and may its user create databases?"
        ) from None
    return urlunsplit(urlsplit(database_url)._replace(path=f"/{NAME}"))


def _make(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
