"""The bot's end of a stream, once it is connected: messages, their parts, and why it ended."""

from typing import cast

import pytest
from msgspec import Struct
from picows import WSCloseCode, WSFrame, WSMsgType, WSTransport

from base.loop_cost import TokenBucket
from streams.bots.limits import MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES
from streams.bots.loop_shares import BURST_S, LoopShare, LoopShares, Reader
from streams.bots.socket import BotSocket
from tests.unit.streams.recording_connection import Frame, RecordingConnection
from wire.streams.reports import EndReason

TOO_LARGE = "a message has more than 1000000 bytes"
BROKE = "the connection broke"


class Stream:
    """A stream that keeps what its bot does."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.counted: list[int] = []  # bytes of frames that are no message
        self.loop_share = LoopShares().join("acme")

    def read_text(self, data: bytes) -> None:
        self.heard.append(data.decode())

    def read_binary(self, data: bytes) -> None:
        self.heard.append(data)

    def count_frame(self, size: int) -> None:
        self.counted.append(size)

    def bot_lost(self, reason: EndReason, detail: str) -> None:
        self.heard.append((reason, detail))


class Bot:
    """A socket with its connection, on which a bot sends frames."""

    def __init__(self) -> None:
        self.stream, self.connection = Stream(), RecordingConnection()
        self.socket = BotSocket(self.stream)
        self._transport = cast("WSTransport", self.connection)
        self.socket.on_ws_connected(self._transport)

    def send(self, kind: WSMsgType, data: bytes = b"", *, is_last: bool = True) -> None:
        """Send a frame."""
        frame = cast("WSFrame", Frame(kind, data, is_last=is_last))
        self.socket.on_ws_frame(self._transport, frame)

    def leave(self) -> None:
        """End the connection."""
        self.socket.on_ws_disconnected(self._transport)


def test_what_a_bot_is_sent() -> None:
    """Texts and audio, and a close; nothing after it, and its end is no loss then."""
    bot = Bot()
    for _ in range(2):
        bot.socket.send_text(b"text")
        bot.socket.send_binary(b"audio")
        bot.socket.close()
    bot.leave()
    assert bot.connection.sent == [
        (WSMsgType.TEXT, b"text"), (WSMsgType.BINARY, b"audio"), WSCloseCode.OK, "disconnect",
    ]  # fmt: skip
    assert bot.stream.heard == []


def test_nothing_is_sent_without_a_connection() -> None:
    """There is none yet, or it has broken, and its end is reported in the next turn of the loop."""
    BotSocket(Stream()).send_text(b"text")
    bot = Bot()
    bot.connection.ends = True
    bot.socket.send_text(b"text")
    assert bot.connection.sent == []


def test_messages_come_whole_or_in_parts() -> None:
    """The parts of one never reach the next; a bot may send pings between them."""
    bot = Bot()
    for kind, first, second in (
        (WSMsgType.TEXT, b"he", b"llo"),
        (WSMsgType.BINARY, b"\x01", b"\x02"),
        (WSMsgType.TEXT, b"go", b"od"),
    ):
        bot.send(kind, first, is_last=False)
        bot.send(WSMsgType.PING, b"ping")
        bot.send(WSMsgType.CONTINUATION, second, is_last=False)
        bot.send(WSMsgType.CONTINUATION, b"", is_last=True)
        bot.send(kind, second)
    bot.send(WSMsgType.TEXT, b"lost", is_last=False)
    bot.send(WSMsgType.TEXT, b"b", is_last=False)
    bot.send(WSMsgType.CONTINUATION, b"ye")
    assert bot.stream.heard == ["hello", "llo", b"\x01\x02", b"\x02", "good", "od", "bye"]
    assert bot.stream.counted == [0, len("ping"), 0] * 3 + [0, 0]
    assert bot.connection.sent == [(WSMsgType.PONG, b"ping")] * 3


def test_parts_together_have_the_limit_of_a_message() -> None:
    """More of them would fill the memory: the stream ends, and nothing of it is read."""
    bot = Bot()
    half = b"x" * (MAX_MESSAGE_BYTES // 2)
    bot.send(WSMsgType.TEXT, half, is_last=False)
    bot.send(WSMsgType.CONTINUATION, half)
    assert len(str(bot.stream.heard.pop())) == MAX_MESSAGE_BYTES
    bot.send(WSMsgType.TEXT, half, is_last=False)
    bot.send(WSMsgType.CONTINUATION, half + b"x", is_last=False)
    bot.send(WSMsgType.TEXT, b"more")
    bot.leave()
    assert bot.connection.sent == ["break"]
    assert bot.stream.heard == [("too-large", TOO_LARGE)]


def test_a_close_is_answered() -> None:
    """With the same code; what follows it is not read."""
    bot = Bot()
    bot.send(WSMsgType.CLOSE, (1001).to_bytes(2))
    bot.send(WSMsgType.TEXT, b"late")
    assert bot.connection.sent == [WSCloseCode.GOING_AWAY, "disconnect"]
    assert bot.stream.heard == []


def test_nothing_is_read_after_a_close() -> None:
    """The stream has ended: a bot may still send."""
    bot = Bot()
    bot.socket.close()
    bot.connection.is_close_frame_sent = False
    bot.send(WSMsgType.TEXT, b"late")
    assert bot.stream.heard == []


def test_a_bot_that_reads_nothing_is_given_up() -> None:
    """What waits for it would fill the memory; its end is reported once."""
    bot = Bot()
    assert bot.connection.most_unsent == MAX_UNSENT_BYTES
    bot.socket.pause_writing()
    bot.socket.pause_writing()
    bot.leave()
    assert bot.connection.sent == ["break"]
    assert bot.stream.heard == [("slow-reader", "262144 bytes were sent and not read")]


class Close(Struct, frozen=True):
    """A close frame."""

    code: WSCloseCode | int
    reason: str | None = None


class Handshake(Struct, frozen=True):
    """How a connection was closed."""

    sent: Close | None
    recv: Close | None
    recv_then_sent: bool = False


@pytest.mark.parametrize(
    ("handshake", "reason", "text"),
    [
        (None, "bot-lost", BROKE),
        (Handshake(None, None), "bot-lost", BROKE),
        (Handshake(None, Close(WSCloseCode.OK, "bye")), "bot-closed", "bye"),
        (Handshake(Close(1000), Close(WSCloseCode.NO_INFO), recv_then_sent=True), "bot-closed", ""),
        (Handshake(None, Close(WSCloseCode.INTERNAL_ERROR, "a fault")), "bot-lost",
         "closed with 1011 a fault"),
        (Handshake(None, Close(4001)), "bot-lost", "closed with 4001"),
        (Handshake(Close(WSCloseCode.MESSAGE_TOO_BIG), Close(WSCloseCode.OK)), "too-large",
         TOO_LARGE),
        (Handshake(Close(WSCloseCode.PROTOCOL_ERROR, "a bad frame"), Close(WSCloseCode.OK)),
         "bot-lost", "a bad frame"),
        (Handshake(Close(WSCloseCode.PROTOCOL_ERROR), None), "bot-lost", BROKE),
        (Handshake(Close(WSCloseCode.MESSAGE_TOO_BIG), Close(WSCloseCode.MESSAGE_TOO_BIG, "no"),
                   recv_then_sent=True), "bot-lost", "closed with 1009 no"),
    ],
)  # fmt: skip
def test_why_a_connection_has_ended(handshake: Handshake | None, reason: str, text: str) -> None:
    """An ordinary close of the bot is its wish; a frame that was refused is the reason before it.

    A close that answers another one repeats its code.
    """
    bot = Bot()
    bot.connection.close_handshake = handshake
    bot.leave()
    bot.leave()
    assert bot.stream.heard == [(reason, text)]


def test_a_bot_of_an_account_that_has_used_up_its_share_is_not_read() -> None:
    """From its connection on; what was left unread does not hold up the close."""
    bot = Bot()
    share = bot.stream.loop_share
    share.add(bot.socket)
    share.spend(BURST_S + 1.0)
    assert not bot.connection.is_read
    share.resume()
    assert not bot.connection.is_read
    early = BotSocket(bot.stream)
    share.add(early)
    connection = RecordingConnection()
    early.on_ws_connected(cast("WSTransport", connection))
    assert not connection.is_read
    early.close()
    assert connection.is_read


class RecordingShare(LoopShare):
    """A share that keeps what is spent, and for whom."""

    def __init__(self) -> None:
        super().__init__(TokenBucket(1.0, lambda: 1.0, lambda: 0.0), lambda _: None)
        self.spent: list[tuple[bool, Reader | None]] = []

    def spend(self, seconds: float, reader: Reader | None = None) -> None:
        self.spent.append((seconds > 0, reader))


def test_each_frame_is_charged() -> None:
    """Whatever is in it; those that come after the end cost nearly nothing."""
    bot = Bot()
    share = bot.stream.loop_share = RecordingShare()
    for kind in (WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.PING, WSMsgType.CONTINUATION):
        bot.send(kind, b"a")
    bot.socket.close()
    bot.send(WSMsgType.PONG)
    assert share.spent == [(True, bot.socket)] * 4
