"""Settings that contradict each other are rejected, with a message."""

import pytest
from pydantic import ValidationError

from base.settings import setting_errors
from engine.config import Settings
from tests.harness.settings import SECRET, read_settings
from wire.flow import MAX_CALL_S


def test_the_ceiling_is_above_the_minimum() -> None:
    """Otherwise a stream would be trimmed before it has its minimum length."""
    with pytest.raises(ValidationError) as error:
        read_settings({"stream_events": 2_000, "stream_ceiling": 1_000})
    assert (
        "SWITCHROOM_STREAM_CEILING is below SWITCHROOM_STREAM_EVENTS"
        in setting_errors(error.value, Settings)[0]
    )


def test_no_call_outlives_its_flow() -> None:
    """The versions of a deleted flow are kept for a week."""
    with pytest.raises(ValidationError) as error:
        read_settings({"longest_call_s": MAX_CALL_S + 1})
    assert "LONGEST_CALL_S" in setting_errors(error.value, Settings)[0]
    assert str(MAX_CALL_S) in setting_errors(error.value, Settings)[0]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"name": "pbx1", "url": "http://b:8088"}, "NODES: two nodes have"),
        ({"name": "pbx2", "url": "http://A:8088/"}, "two nodes have the url http://a:8088/"),
    ],
)
def test_nodes_are_distinct(second: dict[str, str], message: str) -> None:
    """Two nodes at one PBX would share its events."""
    nodes = [{"name": "pbx1", "url": "http://a:8088"}, second]
    with pytest.raises(ValidationError) as error:
        read_settings({"nodes": [{**each, "password": SECRET} for each in nodes]})
    assert message in setting_errors(error.value, Settings)[0]


@pytest.mark.parametrize(
    "url",
    [
        "redis://store:6379/0",
        "redis://user@192.0.2.1/0",
        "redis+sentinel://a:26379,127.0.0.1/main/0",
        "redis://[2001:db8::1]/0",
    ],
)
def test_an_open_store_on_another_host_is_refused(url: str) -> None:
    """Whoever can write to the store can place calls."""
    with pytest.raises(ValidationError) as error:
        read_settings({"redis_url": url})
    text = setting_errors(error.value, Settings)[0]
    assert text.startswith("SWITCHROOM_REDIS_URL: a store on another host needs a password")
    read_settings({"redis_url": url, "allow_insecure_store": True})


@pytest.mark.parametrize(
    "url",
    [
        "redis://127.0.0.1:6379/0",
        "redis://localhost/0",
        "redis://[::1]/0",
        "redis://:secret@store/0",
        "redis://store/0?password=secret",
        "rediss://store/0?ssl_certfile=/client.pem",
        "redis+sentinel://:secret@a,b/main/0",
        "rediss+sentinel://a,b/main/0",
        "unix:///run/valkey.sock",
    ],
)
def test_a_store_with_password_or_tls_is_accepted(url: str) -> None:
    """Also any store of this host."""
    assert read_settings({"redis_url": url}).redis_url == url


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rpc_tls_key": "/key.pem"}, "SWITCHROOM_RPC_TLS_KEY needs SWITCHROOM_RPC_TLS_CERT"),
        (
            {"rpc_tls_cert": "/cert.pem", "rpc_url": "http://192.0.2.1:8070"},
            "SWITCHROOM_RPC_URL must begin with https://",
        ),
    ],
)
def test_settings_of_tls_fit_together(values: dict[str, str], message: str) -> None:
    """Else engines would publish an address that does not answer."""
    with pytest.raises(ValidationError) as error:
        read_settings(values)
    assert message in setting_errors(error.value, Settings)[0]
