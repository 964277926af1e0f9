"""Client settings of a cluster: all can be given, secrets only where nobody reads them."""

import pytest

from parking.client_settings import HIDDEN, RUNS_CODE, check, is_secret, masked

SECRETS = (
    "sasl.password",
    "ssl.key.password",
    "ssl.keystore.password",
    "ssl.key.pem",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.assertion.private.key.passphrase",
)


def test_which_are_secret():
    assert all(map(is_secret, SECRETS))
    for name in ("sasl.username", "ssl.ca.pem", "ssl.certificate.pem", "ssl.key.location", "ssl.ca.location"):
        assert not is_secret(name)
    assert not is_secret("sasl.oauthbearer.token.endpoint.url")


def test_what_may_be_declared():
    check({"security.protocol": "SASL_SSL", "socket.keepalive.enable": True, "metadata.max.age.ms": 5000})
    check({"sasl.kerberos.principal": "siding/host-1@EXAMPLE.ORG", "sasl.kerberos.keytab": "/etc/siding.keytab"})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        *(({name: "x"}, "SIDING_CLUSTER_SECRETS") for name in SECRETS),
        ({"isolation.level": "read_uncommitted"}, "isolation.level: not a setting of a cluster here"),
        *(({name: "/tmp/x"}, "foreign code") for name in RUNS_CODE),
        ({"sasl.kerberos.principal": "siding@EXAMPLE.ORG; touch /tmp/x"}, "part of a command"),
        ({"sasl.kerberos.keytab": '/etc/x" && touch "/tmp/x'}, "part of a command"),
        ({"sasl.kerberos.principal": "siding\ntouch /tmp/x"}, "part of a command"),
        ({"client.id": None}, "a text, a number"),
        (["sasl.username"], "names and values"),
    ],
)
def test_what_may_not(settings, says):
    with pytest.raises(ValueError, match=says) as error:
        check(settings)
    assert "hunter2" not in str(error.value)


def test_a_text_that_quotes_a_secret_is_masked():
    given = {"sasl.password": "hunter2", "sasl.username": "siding"}
    assert masked('Invalid value "hunter2" of siding', given) == f'Invalid value "{HIDDEN}" of siding'
