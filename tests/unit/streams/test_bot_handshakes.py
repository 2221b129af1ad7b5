"""How a bot is reached: what its handshake may do, and why there is no stream with it."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress

import pytest
from picows import WSError, WSHandshakeError, WSMsgType
from picows.url import WSParsedURL

from streams.bots.destinations import Destination
from streams.bots.dialer import MAX_PENDING_PER_HOST, BotUnreachable, PendingConnections
from streams.bots.limits import MAX_MESSAGE_BYTES
from streams.bots.socket import BotSocket
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.scripted_handshake import ScriptedHandshake
from tests.unit.streams.test_bot_socket import Stream

TRUST = ssl.create_default_context()
HEADERS = {"User-Agent": "switchroom"}
REFUSED = BotUnreachable("no-websocket", "HTTP 403", 403)


class PairDialer:
    """Opens one end of a pair of sockets; a test has the other one, the bot's."""

    def __init__(self) -> None:
        self.own, self.bots = socket.socketpair()
        self.own.setblocking(False)
        self.bots.setblocking(False)

    async def open(self, url: WSParsedURL) -> socket.socket:
        """See Dialer."""
        assert url.host == "bot.example"
        return self.own

    @property
    def is_shut(self) -> bool:
        """Whether the bot reads the end of the connection."""
        with suppress(BlockingIOError):
            return self.bots.recv(1) == b""
        return False

    def close(self) -> None:
        """Close both ends."""
        self.own.close()
        self.bots.close()


@pytest.fixture
def dialer() -> Iterator[PairDialer]:
    """Return what opens one socket."""
    made = PairDialer()
    yield made
    made.close()


def destination(dialer: PairDialer, url: str = "wss://bot.example/x") -> Destination:
    """Return where the bot is."""
    return Destination("acme", url, HEADERS, dialer, TRUST, lambda _error: REFUSED, ping_s=7.0)


async def test_what_a_handshake_may_do(dialer: PairDialer) -> None:
    """It goes to no other address, verifies the server, and is repeated for a bot that hangs."""
    handshake, stream = ScriptedHandshake(), Stream()
    bot = BotSocket(stream, handshake.connect)
    await bot.connect(destination(dialer), PendingConnections())
    open_socket = handshake.options.pop("socket_factory")
    assert handshake.options.pop("logger_name").name == "bot"
    assert handshake.url == "wss://bot.example/x"
    assert handshake.options == {
        "ssl_context": TRUST,
        "websocket_handshake_timeout": None,
        "enable_auto_ping": True,
        "auto_ping_idle_timeout": 7.0,
        "auto_ping_reply_timeout": 7.0,
        "enable_auto_pong": False,
        "max_frame_size": MAX_MESSAGE_BYTES,
        "extra_headers": HEADERS,
        "max_redirects": 0,
    }
    opened = await open_socket(destination(dialer).parsed())
    assert opened is dialer.own
    bot.send_text(b"heard")
    dialer.bots.shutdown(socket.SHUT_WR)
    bot.send_text(b"after its last words")
    assert handshake.connection.sent == [(WSMsgType.TEXT, b"heard")]


@pytest.mark.parametrize(
    ("handshake", "reason", "text"),
    [
        (ScriptedHandshake(error=REFUSED), "no-websocket", "HTTP 403"),
        (ScriptedHandshake(error=WSHandshakeError("no HTTP")), "no-websocket", "HTTP 403"),
        (ScriptedHandshake(error=OSError(104, "reset")), "unreachable", "[Errno 104] reset"),
        (ScriptedHandshake(error=ssl.SSLError()), "unreachable", "()"),
        (ScriptedHandshake(error=ConnectionResetError()), "unreachable", "ConnectionResetError"),
        (ScriptedHandshake(error=WSError("odd")), "unreachable", "odd"),
        (ScriptedHandshake(closes=True), "unreachable",
         "the connection was closed without a response"),
        (ScriptedHandshake(hangs=True), "unreachable", "no response in 5 s"),
    ],
)  # fmt: skip
@virtual_time
async def test_why_a_bot_is_not_reached(
    dialer: PairDialer, handshake: ScriptedHandshake, reason: str, text: str
) -> None:
    """Its socket is shut, if it was open, and the attempt counts no longer."""
    pending = PendingConnections()

    async def opens() -> None:
        await handshake.options["socket_factory"](destination(dialer).parsed())

    handshake.opens = opens
    for _ in range(MAX_PENDING_PER_HOST + 1):
        with pytest.raises(BotUnreachable) as raised:
            await BotSocket(Stream(), handshake.connect).connect(destination(dialer), pending)
    assert (raised.value.reason, str(raised.value)) == (reason, text)
    assert raised.value.http_status == (403 if reason == "no-websocket" else 0)
    assert dialer.is_shut is not handshake.closes


@virtual_time
async def test_a_dead_host_has_some_attempts_at_a_time(dialer: PairDialer) -> None:
    """The next one is refused before it opens a socket."""
    handshake, pending = ScriptedHandshake(hangs=True), PendingConnections()
    attempts = [
        asyncio.create_task(
            BotSocket(Stream(), handshake.connect).connect(destination(dialer), pending)
        )
        for _ in range(MAX_PENDING_PER_HOST)
    ]
    await asyncio.sleep(0)
    with pytest.raises(BotUnreachable, match=r"^50 other connections to bot\.example wait"):
        await BotSocket(Stream(), handshake.connect).connect(destination(dialer), pending)
    ends = await asyncio.gather(*attempts, return_exceptions=True)
    assert {type(each) for each in ends} == {BotUnreachable}


@pytest.mark.parametrize("url", ["http://bot.example/", "wss://bot.example:99999/", "bot"])
async def test_an_address_that_is_none(dialer: PairDialer, url: str) -> None:
    """Nothing is connected."""
    handshake = ScriptedHandshake()
    with pytest.raises(BotUnreachable) as raised:
        await BotSocket(Stream(), handshake.connect).connect(
            destination(dialer, url), PendingConnections()
        )
    assert raised.value.reason == "address-refused"
    assert handshake.url == ""
