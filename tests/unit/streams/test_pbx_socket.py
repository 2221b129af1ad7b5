"""The PBX's end of a stream: Asterisk's texts, as its module reads and writes them."""

import asyncio
import json
import ssl
from typing import cast

import pytest
from picows import WSCloseCode, WSFrame, WSHandshakeError, WSMsgType, WSTransport

from streams.pbx import (
    CONNECT_S,
    MAX_UNSENT_BYTES,
    PbxEvent,
    PbxSocket,
    PbxUnreachable,
    mark_command,
    open_socket,
    read_event,
)
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.recording_connection import Frame, RecordingConnection
from tests.unit.streams.scripted_handshake import ScriptedHandshake


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


def connected(stream: Stream) -> tuple[PbxSocket, RecordingConnection, WSTransport]:
    """Return a socket and its connection, twice."""
    pbx, connection = PbxSocket(stream), RecordingConnection()
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
    (_, audio), *texts, code, end = connection.sent
    assert (audio, code, end) == (b"audio", WSCloseCode.OK, "disconnect")
    assert [json.loads(text)["command"] for _, text in texts] == [
        "MARK_MEDIA", "GET_STATUS", "FLUSH_MEDIA", "PAUSE_MEDIA", "CONTINUE_MEDIA",
    ]  # fmt: skip
    assert [kind for kind, _ in connection.sent[:6]] == [WSMsgType.BINARY, *[WSMsgType.TEXT] * 5]


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
    assert connection.most_unsent == MAX_UNSENT_BYTES
    pbx.pause_writing()
    assert connection.sent == ["break"]
    pbx.on_ws_disconnected(transport)
    pbx.pause_writing()
    assert connection.sent == ["break"]


async def test_what_a_handshake_with_a_pbx_may_do() -> None:
    """It speaks the protocol of Asterisk's channel, goes to no other address, and verifies it."""
    handshake, trust = ScriptedHandshake(), ssl.create_default_context()
    pbx = PbxSocket(Stream(), handshake.connect)
    await pbx.connect("wss://pbx/media/1", trust)
    assert handshake.url == "wss://pbx/media/1"
    assert handshake.options == {
        "ssl_context": trust,
        "websocket_handshake_timeout": None,
        "extra_headers": {"Sec-WebSocket-Protocol": "media"},
        "max_redirects": 0,
        "socket_factory": open_socket,
        "logger_name": "pbx",
    }
    pbx.send_frame(b"audio")
    assert handshake.connection.sent == [(WSMsgType.BINARY, b"audio")]


@pytest.mark.parametrize(
    ("handshake", "text", "after_s"),
    [
        (ScriptedHandshake(error=WSHandshakeError("HTTP 404")), "HTTP 404", 0),
        (ScriptedHandshake(error=ConnectionRefusedError()), "ConnectionRefusedError", 0),
        (ScriptedHandshake(hangs=True), "TimeoutError", CONNECT_S),
    ],
)
@virtual_time
async def test_why_a_pbx_is_not_reached(
    handshake: ScriptedHandshake, text: str, after_s: float
) -> None:
    """Whatever happens: the stream must end with a reason."""
    with pytest.raises(PbxUnreachable) as raised:
        await PbxSocket(Stream(), handshake.connect).connect(
            "ws://pbx/", ssl.create_default_context()
        )
    assert str(raised.value) == text
    assert asyncio.get_running_loop().time() == after_s
