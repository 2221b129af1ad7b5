"""Allowed addresses in a tree: https, this machine if allowed, known SIP hosts."""

import pytest

from tests.unit.wire.trees import HTTPS, fault, parse
from wire.decoding.errors import BadInput
from wire.tree import Limits, parse_action

INSECURE = Limits(allow_insecure=True)
BARE_HTTP = ["http://example.com/a", "http://127.0.0.1/a", "http://localhost:9/a"]


@pytest.mark.parametrize("url", BARE_HTTP)
def test_plain_http_is_refused(url: str) -> None:
    """An https URL, and nothing else, unless insecure webhooks are allowed."""
    for tree, path in (
        (url, "action"),
        ({"type": "play", "data": {"audioUrl": url}}, "action.data.audioUrl"),
        ({"type": "play", "data": {"audioUrl": [HTTPS, url]}}, "action.data.audioUrl[1]"),
        ({"type": "gather", "data": {"audioUrl": url}}, "action.data.audioUrl"),
        ({"type": "gather", "action": url}, "action.action"),
        (
            {"type": "gather", "data": {"fallback": {"type": "hangup", "action": url}}},
            "action.data.fallback.action",
        ),
    ):
        assert fault(tree) == (path, "an https:// address is required")


@pytest.mark.parametrize(
    "host",
    ["h.example:0", "h.example:65536", "[1:2:3]", "999.1.1.1", "1.2.3.4.5", "a.1.", "127.1"],
)
def test_impossible_hosts_and_ports_are_refused(host: str) -> None:
    """They are of every address: of webhooks, audio, streams."""
    expected = "expected a host, and a port of 1 to 65535"
    stream = {"type": "stream", "data": {"url": f"wss://{host}/"}}
    assert fault(f"https://{host}/a") == ("action", expected)
    assert fault({"type": "play", "data": {"audioUrl": [HTTPS, f"https://{host}"]}}) == (
        "action.data.audioUrl[1]",
        expected,
    )
    assert fault(stream) == ("action.data.url", expected)


@pytest.mark.parametrize(
    "host", ["h.example.:65535", "[::ffff:1.2.3.4]:1", "1.2.3.4", "0x7f.1a", "1.2.3.x", "h"]
)
def test_possible_hosts_and_ports_are_accepted(host: str) -> None:
    """Whether they exist, or may be called, is found when they are."""
    assert parse(f"https://{host}/a") == f"https://{host}/a"


@pytest.mark.parametrize("url", ["http://127.0.0.1/a", "http://localhost:9/a", "http://[::1]:9"])
def test_plain_http_to_this_machine_when_allowed(url: str) -> None:
    """Http only to loopback, and only when allow_insecure is on."""
    assert parse(url, INSECURE) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost.example.com/",
        "http://127.0.0.2/",
        "http://localhostile/",
    ],
)
def test_plain_http_to_others_is_never_allowed(url: str) -> None:
    """A host whose name starts like this machine's is another host."""
    assert fault(url, INSECURE) == ("action", "an https:// address is required")


def test_userinfo_that_looks_like_loopback_is_refused() -> None:
    """`http://localhost:1@evil/` would go to evil."""
    assert fault("http://localhost:1@evil.example/", INSECURE)[1] == "expected an https:// address"


@pytest.mark.parametrize("number", ["sip:eve@evil.example", "sips:eve@127.0.0.1.evil.example"])
def test_a_sip_address_names_an_allowed_host(number: str) -> None:
    """A sip: address is called only on the hosts that the operator allows."""
    limits = Limits(sip_hosts=("127.0.0.1",))
    dial = b'{"type": "dial", "data": {"number": "%b"}}'
    assert parse_action(dial % b"sip:bob@127.0.0.1:5070", limits)
    with pytest.raises(BadInput, match=r"allowed hosts: 127\.0\.0\.1") as refused:
        parse_action(dial % number.encode(), limits)
    assert refused.value.path == "data.number"


@pytest.mark.parametrize("number", ["+999123", "+47999", "+5225512345678"])
def test_an_impossible_number_is_refused(number: str) -> None:
    """Before it is stored in a route or a flow, and in the response of a webhook."""
    path, message = fault({"type": "dial", "data": {"number": ["+4721930000", number]}})
    assert (path, message) == ("action.data.number[1]", f"{number} can't be a phone number (E.164)")
