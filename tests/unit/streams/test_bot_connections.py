"""Connections to bots and recognizers: which are made, and why others are not."""

import socket
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
from picows import WSHandshakeError, WSUpgradeResponse
from picows.url import parse_url

from base.lookups import Found, Lookups
from streams.bots.destinations import (
    Destination,
    DestinationLookups,
    Destinations,
    RecognizerServer,
)
from streams.bots.dialer import MAX_PENDING_PER_HOST, BotUnreachable, PendingConnections
from tests.harness.executors import InlineExecutor
from wire.streams.recognizer import RecognizerStart
from wire.streams.setup import BotAddress, Recognition, StreamSetup

BOTS, OWN = ssl.create_default_context(), ssl.create_default_context()  # what verifies them
SERVER = RecognizerServer("wss://speech.example/base/", "token")


def destination(
    address: BotAddress | None = None,
    subprotocol: str = "",
    server: RecognizerServer | None = SERVER,
    found: Sequence[Found] = (),
) -> Destination:
    """Return the destination of a bot, or of a recognizer; each name has the same addresses."""
    lookups = Lookups(lambda _host, _port: found, InlineExecutor(), 1)
    all_of_them = Destinations(BOTS, server, OWN, DestinationLookups(lookups, lookups))
    recognition = None if address else Recognition("grammar", RecognizerStart())
    bot = address or BotAddress("", "recognizer")
    setup = StreamSetup("ws://pbx/", bot, "acme", "c", recognition=recognition)
    return all_of_them.find(setup, subprotocol)


def address_of(host: str) -> Found:
    """Return what a resolver finds, of a protocol without sockets."""
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_UDP, "", (host, 443)


def test_a_bot_has_the_headers_of_its_verb() -> None:
    """They replace those of the gateway, of which the subprotocol is one if there is any."""
    address = BotAddress("wss://bot.example/", "native", headers={"User-Agent": "mine"})
    found = destination(address, "switchroom")
    assert (found.account, found.url, found.trust) == ("acme", address.url, BOTS)
    assert found.headers == {"User-Agent": "mine", "Sec-WebSocket-Protocol": "switchroom"}
    plain = destination(BotAddress("wss://bot.example/", "twilio"))
    assert plain.headers == {"User-Agent": "switchroom"}


def test_a_recognizer_is_at_the_operators_server() -> None:
    """Below its address, with its token."""
    found = destination()
    assert (found.account, found.trust) == ("acme", OWN)
    assert found.url == "wss://speech.example/base/recognizers/grammar"
    assert found.headers == {"User-Agent": "switchroom", "Authorization": "Bearer token"}


def test_a_gateway_without_recognizers() -> None:
    """Another attempt changes nothing."""
    with pytest.raises(BotUnreachable, match="SWITCHROOM_STREAMS_RECOGNIZERS") as raised:
        destination(server=None)
    assert raised.value.reason == "bot-closed"


def test_networks_that_are_none() -> None:
    """They are not opened by accident."""
    with pytest.raises(BotUnreachable) as raised:
        destination(BotAddress("wss://bot.example/", "native", networks=("10.0.0.0/99",)))
    assert raised.value.reason == "address-refused"


def test_a_response_that_cannot_be_read() -> None:
    """Neither a bot's nor a recognizer's has a status."""
    for each in (destination(), destination(BotAddress("wss://bot.example/", "native"))):
        refusal = each.refusal(WSHandshakeError("no HTTP"))
        assert (refusal.reason, str(refusal), refusal.http_status) == ("no-websocket", "no HTTP", 0)


@pytest.mark.parametrize(
    ("url", "hosts", "reason", "text"),
    [
        ("wss://bot.example/", [], "unreachable", "bot.example has no address"),
        (
            "wss://bot.example/",
            ["10.0.0.1"],
            "address-refused",
            "requests to 10.0.0.1 are not allowed",
        ),
        (
            "wss://bot.example/",
            ["10.0.0.1", "10.0.0.2"],
            "address-refused",
            "requests to 10.0.0.2 are not allowed",
        ),
        ("wss://bot.example/", ["8.8.8.8"], "unreachable", "bot.example: Protocol not supported"),
        (
            "ws://bot.example/",
            ["8.8.8.8"],
            "address-refused",
            "requests to 8.8.8.8 without TLS are not allowed",
        ),
    ],
)
async def test_an_address_that_is_not_connected(
    url: str, hosts: list[str], reason: str, text: str
) -> None:
    """All of a name's addresses are tried; the reason is that of the last."""
    address = BotAddress(url, "native")
    bot = destination(address, found=[address_of(each) for each in hosts])
    with pytest.raises(BotUnreachable) as raised:
        await bot.dialer.open(parse_url(url))
    assert (raised.value.reason, str(raised.value)) == (reason, text)


async def test_no_error_names_the_operators_server() -> None:
    """Customers read it."""
    with pytest.raises(BotUnreachable, match=r"^the server of recognizers has no address$"):
        await destination().dialer.open(parse_url(SERVER.url))


async def test_a_dead_host_of_one_account_is_open_for_others() -> None:
    """And for its own bots at another port."""
    pending = PendingConnections()
    async with AsyncExitStack() as stack:
        for _ in range(MAX_PENDING_PER_HOST - 1):
            await stack.enter_async_context(pending.one("a", "bot.example", 443))
        async with pending.one("a", "bot.example", 443):
            pass
        await stack.enter_async_context(pending.one("a", "bot.example", 443))
        with pytest.raises(BotUnreachable):
            await stack.enter_async_context(pending.one("a", "bot.example", 443))
        await stack.enter_async_context(pending.one("b", "bot.example", 443))
        await stack.enter_async_context(pending.one("a", "bot.example", 8443))
    async with pending.one("a", "bot.example", 443):
        pass


def refused(status: int, body: bytes | None = None) -> WSHandshakeError:
    """Return what a server's response other than a websocket's is."""
    response = WSUpgradeResponse.create_error_response(status)
    return WSHandshakeError("no websocket", None, body, response)


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (b'{"detail": "there are whisper and vosk"}', "; there are whisper and vosk"),
        (b'{"detail": ""}', ""),
        (b'{"detail": 1}', ""),
        (b"not found", ""),
        (b"\xff", ""),
        (None, ""),
    ],
)
def test_a_recognizer_that_does_not_exist(body: bytes | None, more: str) -> None:
    """Another attempt changes nothing; the server may say which ones there are."""
    refusal = destination().refusal(refused(404, body))
    assert (refusal.reason, refusal.http_status) == ("bot-closed", 0)
    assert str(refusal) == f"HTTP 404: there is no recognizer grammar{more}"


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_recognizers_do_not_accept(status: int) -> None:
    """It may be changed at this moment: another attempt may succeed."""
    refusal = destination().refusal(refused(status))
    assert (refusal.reason, refusal.http_status) == ("bot-lost", 0)
    assert str(refusal).startswith(f"HTTP {status}: the recognizers did not accept")
    assert str(refusal).endswith("SWITCHROOM_SPEECH_TOKEN")


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_server_that_is_no_bot(status: int) -> None:
    """Whatever its status means, no stream begins."""
    bot = destination(BotAddress("wss://bot.example/", "native"))
    refusal = bot.refusal(refused(status))
    assert (refusal.reason, refusal.http_status) == ("no-websocket", status)
    assert str(refusal) == f"HTTP {status}; a websocket begins with 101"


def test_how_long_a_silent_end_is_waited_for() -> None:
    """A bot may compute for some time; a recognizer that hangs delays the caller."""
    bot = destination(BotAddress("wss://bot.example/", "native"))
    assert (bot.ping_s, destination().ping_s) == (15.0, 4.0)
