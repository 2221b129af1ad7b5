"""The doctor names what is plain between hosts."""

from typing import Any

import pytest

from cli.doctor.transport import check_transport
from tests.harness.settings import read_settings

LONG = "0123456789abcdef"
AWAY: dict[str, Any] = {"name": "pbx1", "url": "http://192.0.2.1:8088", "password": LONG}
HERE: dict[str, Any] = {"name": "pbx1", "url": "http://127.0.0.1:8088", "password": LONG}
SAFE: dict[str, Any] = {**AWAY, "url": "https://192.0.2.1:8089", "ami_tls": True}


def findings(node: dict[str, Any], **values: Any) -> list[tuple[str, str]]:
    """Return level and text of each finding."""
    given = {"rpc_token": LONG, "ami_password": LONG, "nodes": [node], **values}
    settings = read_settings(given)
    return [(each.level, each.text) for each in check_transport(settings, settings.nodes)]


@pytest.mark.parametrize(
    ("node", "values"),
    [
        (HERE, {}),
        (SAFE, {"redis_url": "rediss://:x@store:6379/0", "rpc_tls_cert": "/x.pem"}),
        (SAFE, {"redis_url": "unix:///run/valkey.sock"}),
    ],
)
def test_nothing_is_plain(node: dict[str, Any], values: dict[str, Any]) -> None:
    """What stays on this host may be plain."""
    assert findings(node, **values) == [("OK", "nothing leaves this host in clear text")]


def test_each_plain_connection_is_named() -> None:
    """With what to set."""
    found = findings(AWAY, redis_url="redis://:x@store:6379/0", rpc_host="0.0.0.0")
    subjects = [text.partition(":")[0] for level, text in found if level == "WARN"]
    assert subjects == [
        "the store at redis",
        "this engine's RPC and audio",
        "ARI of pbx1",
        "AMI of pbx1",
    ]
    assert "x@" not in str(found)


def test_a_plain_gateway_elsewhere_is_named() -> None:
    """One on this host, or with TLS, is none."""
    gateways = ["http://192.0.2.1:8095", "http://127.0.0.1:8095", "https://192.0.2.2:8095"]
    found = findings({**HERE, "stream_gateways": gateways}, streams_token=LONG * 2)
    named = "the stream gateway http://192.0.2.1:8095/ of pbx1: plain, readable on the network"
    assert found == [("WARN", named)]
