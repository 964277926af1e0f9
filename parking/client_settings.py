"""What may be declared of a cluster: any setting of librdkafka; but secrets stand elsewhere, and some are ours."""

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "…"
OURS = (
    "bootstrap.servers",
    "group.id",
    "group.instance.id",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "auto.offset.reset",
    "isolation.level",
    "allow.auto.create.topics",
    "transactional.id",
    "enable.idempotence",
)
"""What is read, from where, and what is sent, is not a matter of a cluster: guarantees hang on it."""
RUNS_CODE = (
    "plugin.library.paths",
    "ssl.engine.location",
    "ssl.engine.id",
    "ssl.providers",
    "sasl.kerberos.kinit.cmd",
)
"""Libraries that would be loaded, and a command that would be run (librdkafka's CONFIGURATION.md)."""
IN_A_COMMAND = ("sasl.kerberos.principal", "sasl.kerberos.keytab")
"""Their values stand as they are in the line that librdkafka gives to a shell (rdkafka_sasl_cyrus.c, kinit_refresh)."""
_PLAIN = re.compile(r"(?!-)[\w./@+:=-]*", re.ASCII)
_SECRET = re.compile(r"password|passphrase|secret|\.pem$|sasl\.oauthbearer\.config|jaas|token(?!\.endpoint)")
_NOT_SECRET = ("ssl.ca.pem", "ssl.certificate.pem")


def is_secret(name: str) -> bool:
    """Whether nobody may read the value of this setting."""
    return name not in _NOT_SECRET and _SECRET.search(name) is not None


def check(settings: object) -> None:
    """Raise ValueError, with what to do, for client settings that may not be declared."""
    if not isinstance(settings, dict):
        raise ValueError('names and values were expected: "security.protocol" = "SASL_SSL"')
    for name, value in settings.items():
        if is_secret(name):
            raise ValueError(f"{name}: a secret; give it in SIDING_CLUSTER_SECRETS, which is stored nowhere")
        if name in OURS:
            raise ValueError(f"{name}: not a setting of a cluster here; leave it out")
        if name in RUNS_CODE:
            raise ValueError(f"{name}: it would run foreign code; leave it out")
        if name in IN_A_COMMAND and not _PLAIN.fullmatch(str(value)):
            raise ValueError(
                f"{name}: it becomes part of a command; only letters, digits and . / @ + : = _ - may be in it"
            )
        if not isinstance(value, str | int | float | bool):
            raise ValueError(f"{name}: a text, a number or true/false was expected")


def masked(text: str, settings: Mapping[str, Any]) -> str:
    """The text without the values of secrets, should a library ever quote one."""
    for name, value in settings.items():
        if is_secret(name) and len(str(value)) > 2:
            text = text.replace(str(value), HIDDEN)
    return text
