"""The one place that reads the environment. `Environment` is the settings and their documentation.

Every setting is a variable with the prefix SIDING_, or a file of that name in lower case in SIDING_SECRETS_DIR
(/run/secrets where that exists). docs/settings.md and .env.example are written from here by `make settings`.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import AnyHttpUrl, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic import model_validator as after_all
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from replay.destination import Allowed

PREFIX = "SIDING_"
DEVELOPMENT_KEY = "development-only-" + "0" * 50

ADDRESSES = {
    "database_url": (r"postgres(ql)?://\S*", "postgresql://user:password@host:5432/siding"),
    "redis_url": (r"rediss?://[^\s/]+(/\d*)?(\?\S*)?", "redis://host:6379/0"),
    "kafka_bootstrap_servers": (r"[^\s,]+:\d+(,[^\s,]+:\d+)*", "host:9092,host:9092"),
    "smtp_url": (r"smtps?://([^\s@/]+@)?[^\s/@]+?(:\d+)?/?(\?tls=start)?", "smtp://user:password@host:587?tls=start"),
}
SECRET = (
    "secret_key", "metrics_token", "flow_secrets", "cluster_secrets", "database_url", "redis_url", "smtp_url",
)  # fmt: skip
OBJECTS = {"flow_secrets": '{"orders": "secret"}', "cluster_secrets": '{"main": {"sasl.password": "secret"}}'}
Words = Annotated[tuple[str, ...], NoDecode]
Port = Annotated[int, Field(ge=1, le=65535)]


CHAPTERS = {
    "environment": "This installation",
    "database_url": "Servers",
    "flow_secrets": "Replays",
    "metrics_token": "Metrics",
    "outbound_allow": "Alerts",
    "kafka_bootstrap_servers": "The demo and the tests",
}
"""The first setting of each chapter of the documentation → its title. What is in the last one is not for production."""


class Misconfigured(Exception):
    """A variable is missing or wrong. The message has one line for each: which, what was expected, what arrived."""


class Environment(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore", hide_input_in_errors=True)

    environment: Literal["production", "staging", "demo", "development"] = Field(
        "development", description="what this installation is; it stands on every page"
    )
    secret_key: SecretStr = Field(
        SecretStr(DEVELOPMENT_KEY),
        description="signs sessions, and the secrets of webhooks follow from it: at least 50 random characters, "
        "required in production",
    )
    debug: bool = Field(False, description="Django's debug pages; refused in production")
    base_url: AnyHttpUrl = Field(
        AnyHttpUrl("http://127.0.0.1:8000"), description="where people reach the console; links in pages to owners"
    )
    allowed_hosts: Words = Field(
        ("127.0.0.1", "localhost", "[::1]"), description="host names that are answered, separated by commas"
    )
    time_zone: str = Field("UTC", description="time zone of the pages, such as Europe/Paris")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="least level that is logged")

    database_url: str = Field("postgresql://postgres@127.0.0.1:5432/siding", description="PostgreSQL 15 or newer")
    redis_url: str = Field(
        "redis://127.0.0.1:6379/0",
        description="Redis 6.2 or newer; replays are queued in this database, alerts and exports in the next one",
    )

    cluster_secrets: Annotated[dict[str, dict[str, SecretStr]], NoDecode] = Field(
        default_factory=dict,
        description="JSON, cluster → settings that nobody may read, librdkafka's and schema.registry.…: "
        '{"main": {"sasl.password": "…"}}',
    )

    flow_secrets: Annotated[dict[str, SecretStr], NoDecode] = Field(
        default_factory=dict, description='JSON, flow → secret that signs its replay records: {"orders": "…"}'
    )
    replay_lease_seconds: int = Field(30, ge=5, le=600, description="a worker that is silent this long lost its replay")
    replay_tick_seconds: float = Field(2.0, gt=0, le=10, description="longest single run of the replay task")
    watch_interval_seconds: float = Field(2.0, gt=0, le=60, description="how often watch looks")

    metrics_token: SecretStr = Field(
        SecretStr(""), description="who sends it (Authorization: Bearer …) may read /metrics; at least 16 characters"
    )
    metrics_allow: Words = Field(
        (),
        description="addresses that may read /metrics without it, separated by commas: 10.1.2.3, 10.1.0.0/16; behind a "
        "proxy everybody has the proxy's",
    )

    outbound_allow: Words = Field(
        (),
        description="addresses inside that hooks may reach (others must be public and https), separated by commas: "
        "10.1.2.3, 10.1.0.0/16, 127.0.0.1:9000",
    )
    smtp_url: str = Field(
        "smtp://127.0.0.1:25", description="mail server of e-mail hooks: smtp://user:password@host:587?tls=start"
    )
    email_from: str = Field("siding@localhost", description="sender of e-mails to owners")
    alert_budget_seconds: int = Field(
        86_400, ge=60, le=604_800, description="for how long an alert is tried again before it has failed"
    )
    alert_takeover_seconds: float = Field(
        10.0, gt=0, le=300, description="watch sends what the notifier has not taken for so long"
    )

    kafka_bootstrap_servers: str = Field(
        "127.0.0.1:9092", description="host:port,host:port; your own clusters are declared by manage.py flows"
    )
    postgres_port: Port = Field(54320, description="of the embedded PostgreSQL (demo)")
    redis_port: Port = Field(63790, description="of the embedded Redis (demo)")
    kafka_port: Port = Field(19092, description="of the embedded Kafka (demo)")
    web_port: Port = Field(8000, description="of the console in the demo")
    xdg_cache_home: Path | None = Field(
        None, validation_alias="XDG_CACHE_HOME", description="Kafka's jars are kept in its folder siding"
    )
    require: Words = Field((), description="tests only: kafka, browser; what must not be skipped")

    @property
    def cache_dir(self) -> Path:
        return (self.xdg_cache_home or Path.home() / ".cache") / "siding"

    def given(self, name: str) -> bool:
        """Whether a setting was set, not left to its default."""
        return name in self.model_fields_set

    @field_validator("allowed_hosts", "metrics_allow", "outbound_allow", "require", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value

    @field_validator("flow_secrets", "cluster_secrets", mode="before")
    @classmethod
    def _object(cls, value: object, field: ValidationInfo) -> object:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            raise ValueError(f"a JSON object such as {OBJECTS[field.field_name or '']} was expected") from None

    @field_validator("outbound_allow")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for word in value:
            try:
                Allowed.parse(word)
            except ValueError:
                raise ValueError("an address or network such as 10.1.2.3, 10.1.0.0/16 or 127.0.0.1:9000 was expected")
        return value

    @field_validator("metrics_allow")
    @classmethod
    def _addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for word in value:
            try:
                ip_network(word)
            except ValueError:
                raise ValueError("an address or network such as 10.1.2.3 or 10.1.0.0/16 was expected")
        return value

    @field_validator("metrics_token")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if 0 < len(value.get_secret_value()) < 16:
            raise ValueError("at least 16 characters were expected")
        return value

    @field_validator("database_url", "redis_url", "kafka_bootstrap_servers", "smtp_url")
    @classmethod
    def _address(cls, value: str, field: ValidationInfo) -> str:
        pattern, example = ADDRESSES[field.field_name or ""]
        if not re.fullmatch(pattern, value):
            raise ValueError(f"an address such as {example} was expected")
        return value

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value not in available_timezones():
            raise ValueError("a time zone such as UTC or Europe/Paris was expected")
        return value

    @after_all(mode="after")
    def _safe_where_it_matters(self) -> "Environment":
        if self.environment in ("production", "staging"):
            if self.debug:
                raise ValueError(f"{PREFIX}DEBUG: false was expected where {PREFIX}ENVIRONMENT is {self.environment}")
            if len(self.secret_key.get_secret_value()) < 50 or not self.given("secret_key"):
                raise ValueError(f"{PREFIX}SECRET_KEY: at least 50 random characters were expected")
        return self


@cache
def environment() -> Environment:
    """What the environment says, read once. Raises Misconfigured."""
    secrets = Path(os.environ.get(f"{PREFIX}SECRETS_DIR", "/run/secrets"))
    try:
        return Environment(_secrets_dir=secrets if secrets.is_dir() else None)  # type: ignore[call-arg]
    except ValidationError as error:
        raise Misconfigured("\n".join(_line(one) for one in error.errors())) from None


def _line(error: Mapping[str, Any]) -> str:
    field = str(error["loc"][0]) if error["loc"] else ""
    expected = str(error["msg"]).removeprefix("Value error, ")
    if not field:
        return expected
    name = field if field.isupper() else PREFIX + field.upper()
    arrived = "a value that is not shown" if field in SECRET else repr(os.environ.get(name, ""))
    return f"{name}: {expected}; {arrived} arrived"
