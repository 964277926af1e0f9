"""The demo's folder."""

import subprocess
import sys

import pytest

from console.demo.place import ACCOUNTS, Place
from console.demo.trouble import Trouble


def test_passwords_and_secrets_stay_the_same_and_are_nobody_elses_business(tmp_path):
    first = Place(tmp_path / "demo")
    passwords, secret = first.passwords(), first.secret("sessions")
    again = Place(tmp_path / "demo")
    assert again.passwords() == passwords
    assert again.secret("sessions") == secret
    assert len(secret) >= 50
    assert set(passwords) == set(ACCOUNTS)
    assert len({*passwords.values(), secret}) == 4
    assert (tmp_path / "demo/secrets.json").stat().st_mode & 0o077 == 0
    assert (tmp_path / "demo").stat().st_mode & 0o077 == 0


def test_two_demos_cannot_use_one_folder(tmp_path):
    code = (
        "import sys; from pathlib import Path; from console.demo.place import Place; "
        f"place = Place(Path({str(tmp_path)!r})); place.take(); print('mine', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "mine\n"
    with pytest.raises(Trouble, match=rf"another demo \(process {other.pid}\) uses .*end it first"):
        Place(tmp_path).take()
    other.kill()
    other.communicate()
    Place(tmp_path).take()
