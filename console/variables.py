"""The variables of `console.environment` as text for people: `.env.example` and docs/settings.md.

`python -m console.variables` (`make settings`) writes both; a test sees to it that they are up to date.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from console.environment import CHAPTERS, PREFIX, Environment

ROOT = Path(__file__).resolve().parent.parent
LAST = list(CHAPTERS.values())[-1]
MUST = {"environment": "production", "secret_key": ""}
"""What an installation has to set, with what the example says."""

EXAMPLE_HEAD = """\
# Siding's variables. `cp .env.example .env`, fill in what is open, and take away the # where you want something else
# than the default. Every variable may also be a file of its name in lower case in /run/secrets (SIDING_SECRETS_DIR).
# .env is read by `docker compose`, and by systemd as EnvironmentFile=; Siding itself only reads its environment.
# Written from console/environment.py by `make settings`.
#
# A new secret: python3 -c "import secrets; print(secrets.token_urlsafe(50))"

# Only for compose.yaml: the password of its PostgreSQL, letters and digits
POSTGRES_PASSWORD="""

PAGE_HEAD = """\
# Settings

Every setting is a variable of the environment with the prefix `SIDING_`, or a file of that name in lower case in
`SIDING_SECRETS_DIR` (`/run/secrets` where that exists), which suits secrets. What is wrong is said in one line for each
variable, and no process starts; `manage.py check` also tests what they lead to. Clusters, teams and flows are not
settings: [flows](flows.md).

This page and [.env.example](../.env.example) are written from `console/environment.py` by `make settings`.
"""


def example() -> str:
    """The text of .env.example: what has to be set, and everything else with its default, commented out."""
    lines = [EXAMPLE_HEAD]
    for chapter, fields in chapters():
        if chapter == LAST:
            break
        lines.append(f"\n\n# ---- {chapter}\n")
        for name, field in fields:
            lines += wrap(_meaning(field), 116, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
            value = MUST.get(name, _default(field))
            lines.append(f"{'' if name in MUST else '# '}{variable(name, field)}={_quoted(value)}\n")
    return "\n".join(lines).rstrip() + "\n"


def page() -> str:
    """The text of docs/settings.md."""
    lines = [PAGE_HEAD]
    for chapter, fields in chapters():
        lines += [f"## {chapter}\n", "| variable | default | what it is |", "|---|---|---|"]
        for name, field in fields:
            default = f"`{_default(field)}`" if name != "secret_key" and _default(field) else ""
            lines.append(f"| `{variable(name, field)}` | {default} | {_meaning(field)} |")
        lines.append("")
    return "\n".join(lines)


def chapters() -> Iterator[tuple[str, list[tuple[str, FieldInfo]]]]:
    """Each chapter's title and settings, in the order of the class."""
    title, fields = "", list[tuple[str, FieldInfo]]()
    for name, field in Environment.model_fields.items():
        if name in CHAPTERS:
            if fields:
                yield title, fields
            title, fields = CHAPTERS[name], []
        fields.append((name, field))
    yield title, fields


def variable(name: str, field: FieldInfo) -> str:
    return str(field.validation_alias or f"{PREFIX}{name.upper()}")


def _meaning(field: FieldInfo) -> str:
    """Its description, and which values it takes where that is not free."""
    if get_origin(field.annotation) is Literal:
        *others, last = get_args(field.annotation)
        return f"{field.description}: {', '.join(others)} or {last}"
    if field.annotation is bool:
        return f"{field.description}: true or false"
    limits = _limits(field)
    return f"{field.description} ({limits})" if limits else str(field.description)


def _limits(field: FieldInfo) -> str:
    words = {"ge": "at least {:,}", "gt": "more than {:,}", "le": "at most {:,}"}
    found = [(sign, getattr(limit, sign)) for limit in field.metadata for sign in words if hasattr(limit, sign)]
    return ", ".join(words[sign].format(value).replace(",", " ") for sign, value in found)


def _default(field: FieldInfo) -> str:
    """As one would write it."""
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, SecretStr) or value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(value)
    return json.dumps(value) if isinstance(value, (bool, dict)) else str(value)


def _quoted(value: str) -> str:
    """For compose and systemd alike: in single quotes what a shell would take apart."""
    return shlex.quote(value) if value else ""


def main() -> None:
    (ROOT / ".env.example").write_text(example(), encoding="utf-8")
    (ROOT / "docs/settings.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
