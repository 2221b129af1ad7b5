"""The PBX's end of a stream: Asterisk's texts, as its module reads and writes them."""

import json
from typing import Any, cast

from picows import WSCloseCode, WSFrame, WSMsgType, WSTransport

from streams.pbx.messages import PbxEvent, mark_command, read_event
from streams.pbx.socket import PbxSocket


def test_a_mark() -> None:
    """Asterisk returns its key."""
    command = json.loads(mark_command("m1"))
    assert command == {"command": "MARK_MEDIA", "correlation_id": "m1"}
    event = read_event(b'{"event":"MEDIA_MARK_PROCESSED","correlation_id":"m1","channel":"x"}')
    assert event == PbxEvent("MEDIA_MARK_PROCESSED", correlation_id="m1")


def test_what_is_no_event() -> None:
    """It is ignored: a later version of Asterisk may send more."""
    for data in (b"", b"MEDIA_START", b"[]", b'{"event":1}'):
        assert read_event(data) is None


class Connection:
    """A connection that keeps what it gets; its own end of the transport, too."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.underlying_transport = self
        self.ends = False

    def is_closing(self) -> bool:
        return self.ends

    def set_write_buffer_limits(self, high: int) -> None:
        assert high > 0

    def send(self, kind: WSMsgType, data: bytes) -> None:
        self.sent.append(json.loads(data)["command"] if kind == WSMsgType.TEXT else data)

    def send_close(self, code: WSCloseCode) -> None:
        self.sent.append(code)

    def disconnect(self, *, graceful: bool = True) -> None:
        self.sent.append("disconnect" if graceful else "break")


class Frame:
    """A frame of the PBX."""

    def __init__(self, kind: WSMsgType, data: bytes = b"") -> None:
        self.msg_type = kind
        self._data = data

    def get_payload_as_bytes(self) -> bytes:
        return self._data


class Stream:
    """A stream that keeps what its PBX does."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def media_started(self, event: PbxEvent) -> None:
        self.heard.append(event.format)

    def hear_caller(self, frame: bytes) -> None:
        self.heard.append(frame)

    def mark_returned(self, key: str) -> None:
        self.heard.append(key)

    def queue_known(self, frames: int) -> None:
        self.heard.append(frames)

    def pbx_lost(self) -> None:
        self.heard.append("lost")


def connected(stream: Stream) -> tuple[PbxSocket, Connection, WSTransport]:
    """Return a socket and its connection, twice."""
    pbx, connection = PbxSocket(stream), Connection()
    transport = cast("WSTransport", connection)
    pbx.on_ws_connected(transport)
    return pbx, connection, transport


def test_what_a_pbx_is_sent() -> None:
    """Nothing after its end, which may be closed twice."""
    pbx, connection, _ = connected(Stream())
    for _ in range(2):
        pbx.send_frame(b"audio")
        pbx.send_mark("m1")
        pbx.ask_queue()
        pbx.flush()
        pbx.pause()
        pbx.resume()
        pbx.close()
    commands = ["MARK_MEDIA", "GET_STATUS", "FLUSH_MEDIA", "PAUSE_MEDIA", "CONTINUE_MEDIA"]
    assert connection.sent == [b"audio", *commands, WSCloseCode.OK, "disconnect"]


def test_a_connection_that_ends_is_sent_nothing() -> None:
    """It has broken, and its end is reported in the next turn of the loop."""
    pbx, connection, _ = connected(Stream())
    connection.ends = True
    pbx.send_frame(b"audio")
    pbx.send_mark("m1")
    assert connection.sent == []


def test_what_a_pbx_sends() -> None:
    """Audio of the caller, the events that a stream needs, and the end."""
    stream = Stream()
    pbx, connection, transport = connected(stream)
    for text in (
        b'{"event":"MEDIA_START","format":"slin"}',
        b'{"event":"MEDIA_MARK_PROCESSED","correlation_id":"m1"}',
        b'{"event":"STATUS","queue_length":7}',
        b'{"event":"MEDIA_XOFF"}',
        b"no event",
    ):
        pbx.on_ws_frame(transport, cast("WSFrame", Frame(WSMsgType.TEXT, text)))
    pbx.on_ws_frame(transport, cast("WSFrame", Frame(WSMsgType.BINARY, b"audio")))
    pbx.on_ws_frame(transport, cast("WSFrame", Frame(WSMsgType.CLOSE)))
    assert connection.sent == ["disconnect"]
    pbx.on_ws_disconnected(transport)
    assert stream.heard == ["slin", "m1", 7, b"audio", "lost"]
    pbx.send_frame(b"audio")
    assert connection.sent == ["disconnect"]


def test_a_pbx_that_reads_nothing_is_given_up() -> None:
    """What waits for it would fill the memory; after its end nothing waits."""
    pbx, connection, transport = connected(Stream())
    pbx.pause_writing()
    assert connection.sent == ["break"]
    pbx.on_ws_disconnected(transport)
    pbx.pause_writing()
    assert connection.sent == ["break"]
