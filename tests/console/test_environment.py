"""Settings come from SIDING_ variables and files; what is wrong is said in one line per variable."""

import pytest

from console.environment import Misconfigured, environment


@pytest.fixture
def read(monkeypatch):
    """read(NAME="value", …) → the settings that a fresh process with only these variables would see."""

    def read(**variables):
        for name in (
            "DATABASE_URL", "REDIS_URL", "KAFKA_BOOTSTRAP_SERVERS", "REQUIRE", "ENVIRONMENT", "SECRETS_DIR",
        ):  # fmt: skip
            monkeypatch.delenv(f"SIDING_{name}", raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(f"SIDING_{name}", str(value))
        environment.cache_clear()
        return environment()

    yield read
    monkeypatch.undo()
    environment.cache_clear()


def test_defaults_are_for_development_on_this_machine_only(read):
    assert read().environment == "development"
    assert set(read().allowed_hosts) == {"127.0.0.1", "localhost", "[::1]"}
    assert not read().given("database_url")


def test_each_wrong_variable_gets_one_line_with_what_was_expected_and_what_arrived(read):
    with pytest.raises(Misconfigured) as raised:
        read(TIME_ZONE="Mars/Olympus", KAFKA_BOOTSTRAP_SERVERS="localhost", REPLAY_LEASE_SECONDS="soon")
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert "SIDING_TIME_ZONE: a time zone such as UTC or Europe/Paris was expected; 'Mars/Olympus' arrived" in lines
    assert any(line.startswith("SIDING_KAFKA_BOOTSTRAP_SERVERS: ") and "'localhost' arrived" in line for line in lines)
    assert any(line.startswith("SIDING_REPLAY_LEASE_SECONDS: ") and "'soon' arrived" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://u:hunter2@h/d"),
        ("REDIS_URL", "hunter2"),
        ("SMTP_URL", "hunter2"),
        ("FLOW_SECRETS", '{"orders": hunter2}'),
        ("CLUSTER_SECRETS", '{"main": {"sasl.password": hunter2}}'),
        ("CLUSTER_SECRETS", '{"main": "hunter2"}'),
    ],
)
def test_a_secret_is_not_repeated_in_the_error(read, name, value):
    with pytest.raises(Misconfigured) as raised:
        read(**{name: value})
    assert f"SIDING_{name}: " in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OUTBOUND_ALLOW", "127.0.0.1:9000, localhost"),
        ("SMTP_URL", "mail.example:25"),
        ("SMTP_URL", "http://mail.example"),
        ("ALERT_TAKEOVER_SECONDS", "0"),
    ],
)
def test_how_alerts_leave_is_checked(read, name, value):
    with pytest.raises(Misconfigured, match=f"SIDING_{name}: "):
        read(**{name: value})


def test_how_alerts_leave(read):
    given = read(OUTBOUND_ALLOW="10.1.0.0/16, [::1]:9000", SMTP_URL="smtp://me:p%40ss@mail.example:587?tls=start")
    assert given.outbound_allow == ("10.1.0.0/16", "[::1]:9000")
    assert given.smtp_url.endswith("?tls=start")


@pytest.mark.parametrize("variables", [{}, {"SECRET_KEY": "short"}, {"SECRET_KEY": "k" * 50, "DEBUG": "true"}])
def test_production_refuses_weak_settings(read, variables):
    with pytest.raises(Misconfigured, match="SIDING_"):
        read(ENVIRONMENT="production", **variables)


def test_secrets_are_read_from_files(read, tmp_path):
    (tmp_path / "siding_secret_key").write_text("s" * 60)
    (tmp_path / "siding_flow_secrets").write_text('{"orders": "from a file"}')
    settings = read(SECRETS_DIR=tmp_path, ENVIRONMENT="production")
    assert settings.secret_key.get_secret_value() == "s" * 60
    assert settings.flow_secrets["orders"].get_secret_value() == "from a file"


def test_the_settings_do_not_show_secrets_when_printed(read):
    shown = repr(read(SECRET_KEY="k" * 50, FLOW_SECRETS='{"orders": "hunter2"}'))
    assert "hunter2" not in shown
    assert "kkkk" not in shown


def test_who_may_read_the_metrics(read):
    assert (read().metrics_token.get_secret_value(), read().metrics_allow) == ("", ())
    assert read(METRICS_ALLOW="10.1.2.3, fd00::/8").metrics_allow == ("10.1.2.3", "fd00::/8")
    with pytest.raises(Misconfigured) as raised:
        read(METRICS_ALLOW="10.1.2.3:80", METRICS_TOKEN="short")
    assert "SIDING_METRICS_ALLOW: an address or network such as 10.1.2.3" in str(raised.value)
    assert "SIDING_METRICS_TOKEN: at least 16 characters were expected; a value that is not shown" in str(raised.value)
