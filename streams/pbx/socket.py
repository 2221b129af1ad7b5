"""A websocket of the PBX's: it implements what a Playout sends to, and passes on what it hears."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Protocol

from picows import WSCloseCode, WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from streams.pbx.dialing import open_socket
from streams.pbx.messages import (
    ASK_QUEUE,
    CONTINUE,
    FLUSH,
    PAUSE,
    PbxEvent,
    mark_command,
    read_event,
)

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
