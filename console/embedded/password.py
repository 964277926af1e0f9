"""A password that stays with a server's data: other users of the machine can reach its port, too."""

import secrets
from pathlib import Path


def password(data_dir: Path) -> str:
    """The password kept in `data_dir`, made when there is none."""
    path = data_dir / "password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(18))
    return path.read_text()
