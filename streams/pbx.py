"""A websocket of the PBX's: it implements what a Playout sends to, and passes on what it hears."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

import msgspec
from msgspec import Struct
from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect
from picows.url import WSParsedURL

FLUSH = b'{"command":"FLUSH_MEDIA"}'
PAUSE = b'{"command":"PAUSE_MEDIA"}'
ASK_QUEUE = b'{"command":"GET_STATUS"}'
CONTINUE = b'{"command":"CONTINUE_MEDIA"}'


class PbxEvent(Struct, frozen=True):
    """An event of the PBX; unknown fields and events are ignored."""

    event: str
    format: str = ""
    optimal_frame_size: int = 0
    correlation_id: str = ""
    queue_length: int = 0  # frames


_DECODER = msgspec.json.Decoder(PbxEvent)


def mark_command(key: str) -> bytes:
    """Return the command that has a mark returned; keys are the gateway's, without quotes."""
    return b'{"command":"MARK_MEDIA","correlation_id":"%b"}' % key.encode()


def read_event(data: bytes) -> PbxEvent | None:
    """Return an event; None for what is none."""
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError:
        return None


SUBPROTOCOL = "media"
CONNECT_S = 5.0
MAX_UNSENT_BYTES = 262_144


class PbxUnreachable(Exception):
    """The PBX has no such stream, or does not respond."""


class PbxListener(Protocol):
    """A stream, as its PBX sees it."""

    def media_started(self, event: PbxEvent) -> None: ...

    def hear_caller(self, frame: bytes) -> None: ...

    def mark_returned(self, key: str) -> None: ...

    def queue_known(self, frames: int) -> None: ...

    def pbx_lost(self) -> None: ...


class PbxSocket(WSListener):
    """The PBX's end of one stream; what is sent before and after the connection is dropped."""

    def __init__(
        self, listener: PbxListener, ws_connect: Callable[..., Awaitable[object]] = ws_connect
    ) -> None:
        self._listener = listener
        self._ws_connect = ws_connect
        self._transport: WSTransport | None = None

    async def connect(self, url: str, context: ssl.SSLContext) -> None:
        """Connect; raises PbxUnreachable."""
        headers = {"Sec-WebSocket-Protocol": SUBPROTOCOL}
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._ws_connect(
                    lambda: self,
                    url,
                    ssl_context=context,
                    websocket_handshake_timeout=None,
                    extra_headers=headers,
                    max_redirects=0,
                    socket_factory=open_socket,
                    logger_name="pbx",
                )
        except Exception as error:  # picows raises several kinds, as do its sockets
            raise PbxUnreachable(str(error) or type(error).__name__) from error

    def close(self) -> None:
        """Close the connection, which destroys the PBX's channel."""
        if self._transport is not None:
            self._transport.send_close(WSCloseCode.OK)
            self._transport.disconnect()
            self._transport = None

    def send_frame(self, frame: bytes) -> None:
        """See PbxSink."""
        self._send(WSMsgType.BINARY, frame)

    def send_mark(self, key: str) -> None:
        """See PbxSink."""
        self._command(mark_command(key))

    def ask_queue(self) -> None:
        """See PbxSink."""
        self._command(ASK_QUEUE)

    def flush(self) -> None:
        """See PbxSink."""
        self._command(FLUSH)

    def pause(self) -> None:
        """See PbxSink."""
        self._command(PAUSE)

    def resume(self) -> None:
        """See PbxSink."""
        self._command(CONTINUE)

    def on_ws_connected(self, transport: WSTransport) -> None:
        """See WSListener."""
        self._transport = transport
        transport.underlying_transport.set_write_buffer_limits(high=MAX_UNSENT_BYTES)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """See WSListener."""
        if frame.msg_type == WSMsgType.BINARY:
            self._listener.hear_caller(frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.TEXT:
            self._read(frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:  # noqa: ARG002 - the only one
        """See WSListener."""
        self._transport = None
        self._listener.pbx_lost()

    def pause_writing(self) -> None:
        """See WSListener: the PBX has stood still for long."""
        if self._transport is not None:
            self._transport.disconnect(graceful=False)

    def resume_writing(self) -> None:
        """See WSListener."""

    def _read(self, data: bytes) -> None:
        event = read_event(data)
        match event:
            case PbxEvent(event="MEDIA_START"):
                self._listener.media_started(event)
            case PbxEvent(event="MEDIA_MARK_PROCESSED"):
                self._listener.mark_returned(event.correlation_id)
            case PbxEvent(event="STATUS"):
                self._listener.queue_known(event.queue_length)
            case _:  # others have no effect
                pass

    def _command(self, text: bytes) -> None:
        self._send(WSMsgType.TEXT, text)

    def _send(self, kind: WSMsgType, data: bytes) -> None:
        """Send, unless the connection ends: a gateway that stood still has much to send at once."""
        transport = self._transport
        if transport is not None and not transport.underlying_transport.is_closing():
            transport.send(kind, data)


REPEAT_AFTER_S = (0.2, 0.4)


async def open_socket(url: WSParsedURL) -> socket.socket:
    """Return a connected socket; the caller limits the time. Raises OSError."""
    for timeout_s in REPEAT_AFTER_S:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await _connected(url.host, url.port)
    return await _connected(url.host, url.port)


async def _connected(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    failed = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        found = socket.socket(family, kind, protocol)
        try:
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(found, address)
        except OSError as error:
            found.close()
            failed = error
        except BaseException:
            found.close()
            raise
        else:
            return found
    raise failed
