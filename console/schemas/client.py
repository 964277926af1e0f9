"""The REST protocol of a schema registry, as far as a reader needs it (Confluent's; Karapace, Redpanda, Apicurio too).

`GET /schemas/ids/{id}`, `GET /schemas/guids/{guid}`, `GET /subjects/{subject}/versions/{version}` for references.
"""

import base64
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import orjson

from parking.decoding import AVRO, NoSchema, Schema, SchemaId
from replay import http_out
from replay.destination import Forbidden

SECONDS = 2.0
"""For a schema with everything that it refers to: somebody waits for a page."""
LARGEST = 2_000_000
MOST_REFERENCES = 60
KNOWN = frozenset((
    "url", "basic.auth.user.info", "bearer.auth.token",
    "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.key.location", "ssl.key.password",
))  # fmt: skip


class Unsound(ValueError):
    """A setting that cannot be used: which, and why. No value is in the message."""


class Down(NoSchema):
    """The registry could not be asked, whatever the schema is: no connection, or no answer in time."""


class Unwilling(NoSchema):
    """It answers, but does not tell this one: it may let us see others."""


@dataclass(frozen=True, slots=True)
class Registry:
    """Where a registry is, and what opens it. `repr` shows no secret."""

    urls: tuple[str, ...]
    authorization: str
    tls: ssl.SSLContext | None

    def __repr__(self) -> str:
        return f"Registry{self.urls}"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Registry":
        """From settings named as Confluent's clients name them. Raises Unsound."""
        unknown = sorted(set(given) - KNOWN)
        if unknown:
            raise Unsound(f"schema.registry.{unknown[0]} is not known; known are {', '.join(sorted(KNOWN))}")
        urls = tuple(url.strip().rstrip("/") for url in str(given.get("url", "")).split(",") if url.strip())
        if not urls:
            raise Unsound("schema.registry.url is missing")
        if any("@" in url.partition("://")[2].partition("/")[0] for url in urls):
            raise Unsound("schema.registry.url holds a user or password: they are schema.registry.basic.auth.user.info")
        return cls(urls, _authorization(given), _tls(given))

    def schema(self, wanted: SchemaId) -> Schema:
        """The schema with everything that it refers to. Raises NoSchema; Down only where it answered nothing at all."""
        until = time.monotonic() + SECONDS
        path = f"/schemas/ids/{wanted}" if isinstance(wanted, int) else f"/schemas/guids/{quote(wanted, safe='')}"
        told = self._get(path, until)
        references: dict[str, str] = {}
        try:
            self._refer(told, references, set(), until)
        except Down as error:  # it has just answered: others may have less to ask for, and time for it
            raise NoSchema(f"it refers to others, and {error}", passing=True) from None
        return Schema(str(told.get("schemaType") or AVRO), _text(told), tuple(references.items()))

    def look(self) -> None:
        """Whether it answers at all, and lets us in. Raises Down, or Unwilling."""
        try:
            self._get("/schemas/types", time.monotonic() + SECONDS)
        except (Down, Unwilling):
            raise
        except NoSchema:
            return  # an older one does not know this question

    def _refer(self, told: Mapping[str, Any], found: dict[str, str], asked: set[str], until: float) -> None:
        """What it refers to, and what that refers to before it, each once."""
        for one in told.get("references") or ():
            name, subject, version = _reference(one)
            if name in asked:
                continue
            asked.add(name)
            if len(asked) > MOST_REFERENCES:
                raise NoSchema(f"it refers to more than {MOST_REFERENCES} others")
            try:
                inner = self._get(f"/subjects/{quote(subject, safe='')}/versions/{version}", until)
            except Down:
                raise
            except NoSchema as error:
                why = f"it refers to version {version} of {subject[:200]}, and of that {error}"
                raise NoSchema(why, passing=error.passing) from None
            self._refer(inner, found, asked, until)
            found[name] = _text(inner)
            if sum(map(len, found.values())) > LARGEST:
                raise NoSchema(f"what it refers to is larger than {LARGEST // 1_000_000} MB")

    def _get(self, path: str, until: float) -> dict[str, Any]:
        """The object that stands there, at the first of the addresses that answers."""
        failures: list[NoSchema] = []
        for url in self.urls:
            try:
                return _told(self._ask(url + path, until))
            except (Down, Unwilling) as error:
                failures.append(error)
        raise min(failures, key=lambda one: isinstance(one, Down))  # one that answers is not down

    def _ask(self, url: str, until: float) -> http_out.Answer:
        headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json", "User-Agent": "siding"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        left = until - time.monotonic()
        try:
            return http_out.get(url, headers, most=LARGEST + 1, seconds=max(left, 0.01), tls=self.tls)
        except Forbidden as error:
            raise Down(f"the address of the schema registry cannot be used ({error})") from None
        except http_out.NoAnswer as error:
            raise Down(f"the schema registry does not answer ({error})", passing=True) from None


def _told(answer: http_out.Answer) -> dict[str, Any]:
    if answer.status == 404:
        raise NoSchema("the schema registry does not have it")
    if answer.status in (401, 403):
        raise Unwilling(f"the schema registry refuses us ({answer.status}): check its user and password")
    if answer.status != 200:
        raise Unwilling(f"the schema registry answers {answer.status}", passing=True)
    if len(answer.body) > LARGEST:
        raise NoSchema(f"the schema registry's answer is larger than {LARGEST // 1_000_000} MB")
    try:
        told = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        raise NoSchema("the schema registry answers what is no JSON", passing=True) from None
    return told if isinstance(told, dict) else {"answer": told}


def _text(told: Mapping[str, Any]) -> str:
    text = told.get("schema")
    if not isinstance(text, str):
        raise NoSchema("the schema registry answers what is no schema", passing=True)
    return text


def _reference(told: object) -> tuple[str, str, int]:
    if isinstance(told, dict):
        name, subject, version = told.get("name"), told.get("subject"), told.get("version")
        if isinstance(name, str) and isinstance(subject, str) and isinstance(version, int):
            return name, subject, version
    raise NoSchema("it refers to others in a way that is not known here")


def _authorization(given: Mapping[str, Any]) -> str:
    user, token = given.get("basic.auth.user.info"), given.get("bearer.auth.token")
    if user:
        if ":" not in str(user):
            raise Unsound("schema.registry.basic.auth.user.info: user:password was expected")
        return f"Basic {base64.b64encode(str(user).encode()).decode()}"
    if token and not (str(token).isascii() and str(token).isprintable()):
        raise Unsound("schema.registry.bearer.auth.token: printable ASCII was expected")
    return f"Bearer {token}" if token else ""


def _tls(given: Mapping[str, Any]) -> ssl.SSLContext | None:
    own = {name: str(value) for name, value in given.items() if name.startswith("ssl.") and value}
    return _context(**{name.replace(".", "_"): value for name, value in own.items()}) if own else None


@lru_cache(maxsize=32)
def _context(
    *,
    ssl_ca_location: str | None = None,
    ssl_ca_pem: str | None = None,
    ssl_certificate_location: str | None = None,
    ssl_key_location: str | None = None,
    ssl_key_password: str | None = None,
) -> ssl.SSLContext:
    """Trusts these authorities, else the system's; with our own certificate where one is given."""
    try:
        context = ssl.create_default_context(cafile=ssl_ca_location, cadata=ssl_ca_pem)
        if ssl_certificate_location:
            context.load_cert_chain(ssl_certificate_location, ssl_key_location, ssl_key_password)
    except (OSError, ValueError) as error:
        raise Unsound(f"schema.registry.ssl.…: {type(error).__name__}: a file is missing or no certificate") from None
    return context
