"""The one place of the sample service that reads the environment."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Every one is a variable with the prefix DISPUTES_, and required."""

    bootstrap_servers: str
    database_url: str
    model_url: str
    secret: str  # signs the replay records of the flow; the console has the same

    def variables(self) -> dict[str, str]:
        return {f"DISPUTES_{name.upper()}": value for name, value in vars(self).items()}


def settings() -> Settings:
    """What the environment says. Ends the process with one line where something is missing."""
    names = Settings.__annotations__
    missing = [f"DISPUTES_{name.upper()}" for name in names if not os.environ.get(f"DISPUTES_{name.upper()}")]
    if missing:
        raise SystemExit(f"missing in the environment: {', '.join(missing)}")
    return Settings(**{name: os.environ[f"DISPUTES_{name.upper()}"] for name in names})
