"""A websocket to a bot: connected within limits, read within limits, and never waited for."""

import asyncio
import logging
import select
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from picows import (
    WSCloseCode,
    WSError,
    WSFrame,
    WSHandshakeError,
    WSListener,
    WSMsgType,
    WSTransport,
    ws_connect,
)
from picows.url import WSParsedURL

from streams.bots.destinations import Destination
from streams.bots.dialer import CONNECT_S, BotUnreachable, PendingConnections
from streams.bots.limits import MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES
from streams.bots.loop_shares import LoopShare
from wire.streams.reports import EndReason

_ORDINARY = (WSCloseCode.OK, WSCloseCode.NO_INFO)


class BotListener(Protocol):
    """A stream, as its bot sees it."""

    def read_text(self, data: bytes) -> None: ...

    def read_binary(self, data: bytes) -> None: ...

    def count_frame(self, size: int) -> None: ...

    def bot_lost(self, reason: EndReason, detail: str) -> None: ...

    @property
    def loop_share(self) -> LoopShare: ...


class _PicowsLog(logging.LoggerAdapter[logging.Logger]):
    """What is wrong with a bot's frames: its stream ends with it once, picows says it per read."""

    def error(self, msg: object, *args: object, **options: Any) -> None:
        self.debug(msg, *args, **options)


class BotSocket(WSListener):
    """The bot's end of one stream; what is sent before and after the connection is dropped."""

    def __init__(
        self, listener: BotListener, ws_connect: Callable[..., Awaitable[object]] = ws_connect
    ) -> None:
        self._listener = listener
        self._ws_connect = ws_connect
        self._transport: WSTransport | None = None
        self._peer_end = select.poll()
        self._was_connected = self._is_paused = False
        self._fragments = bytearray()
        self._is_text = True

    async def connect(self, destination: Destination, pending: PendingConnections) -> None:
        """Connect; raises BotUnreachable."""
        try:
            url = destination.parsed()
        except (WSError, ValueError) as error:
            raise BotUnreachable("address-refused", str(error)) from None
        try:
            async with (
                pending.one(destination.account, url.host, url.port),
                asyncio.timeout(CONNECT_S),
            ):
                await self._shake_hands(destination)
        except BotUnreachable:
            raise
        except TimeoutError:
            raise BotUnreachable("unreachable", f"no response in {CONNECT_S:g} s") from None
        except WSHandshakeError as error:
            raise destination.refusal(error) from None
        except (OSError, WSError) as error:
            raise BotUnreachable("unreachable", str(error) or type(error).__name__) from None
        if not self._was_connected:
            raise BotUnreachable("unreachable", "the connection was closed without a response")

    async def _shake_hands(self, destination: Destination) -> None:
        opened: list[socket.socket] = []

        async def open_socket(url: WSParsedURL) -> socket.socket:
            opened.append(await destination.dialer.open(url))
            self._peer_end.register(opened[-1], select.POLLRDHUP)
            return opened[-1]

        try:
            await self._ws_connect(
                lambda: self,
                destination.url,
                ssl_context=destination.trust,
                websocket_handshake_timeout=None,
                enable_auto_ping=True,  # one that hangs is as silent as one that listens
                auto_ping_idle_timeout=destination.ping_s,
                auto_ping_reply_timeout=destination.ping_s,
                enable_auto_pong=False,  # pings are counted before they are answered
                max_frame_size=MAX_MESSAGE_BYTES,
                extra_headers=destination.headers,
                max_redirects=0,
                socket_factory=open_socket,
                logger_name=_PicowsLog(logging.getLogger("bot")),
            )
        except BaseException:
            for each in opened:
                _shut(each)
            raise

    def send_text(self, data: bytes) -> None:
        """Send a text."""
        self._send(WSMsgType.TEXT, data)

    def send_binary(self, data: bytes) -> None:
        """Send a binary message."""
        self._send(WSMsgType.BINARY, data)

    def _send(self, kind: WSMsgType, data: bytes) -> None:
        """Send, unless the bot has gone: after a write that fails, its last words are not read.

        The look costs a sixth of the write.
        """
        transport = self._transport
        if transport is None or transport.underlying_transport.is_closing():
            return
        if not self._peer_end.poll(0):
            transport.send(kind, data)

    def pause_reading(self) -> None:
        """See Reader."""
        self._is_paused = True
        if self._transport is not None:
            self._transport.underlying_transport.pause_reading()

    def resume_reading(self) -> None:
        """See Reader."""
        self._is_paused = False
        if self._transport is not None:
            self._transport.underlying_transport.resume_reading()

    def close(self) -> None:
        """Close the connection in the ordinary way."""
        self.resume_reading()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.send_close(WSCloseCode.OK)
            transport.disconnect()

    def abort(self) -> None:
        """Break the connection of a bot that does not read."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.disconnect(graceful=False)

    def on_ws_connected(self, transport: WSTransport) -> None:
        """See WSListener."""
        self._transport = transport
        self._was_connected = True
        transport.underlying_transport.set_write_buffer_limits(high=MAX_UNSENT_BYTES)
        if self._is_paused:
            self.pause_reading()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """See WSListener."""
        kind = frame.msg_type
        if kind != WSMsgType.CLOSE and (self._transport is None or transport.is_close_frame_sent):
            return  # it was closed meanwhile, or one of its frames was refused
        began_s = time.thread_time()
        try:
            self._read(kind, transport, frame)
        finally:
            self._listener.loop_share.spend(time.thread_time() - began_s, self)

    def _read(self, kind: WSMsgType, transport: WSTransport, frame: WSFrame) -> None:
        if kind == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        elif frame.fin and kind == WSMsgType.TEXT:
            self._listener.read_text(frame.get_payload_as_bytes())
        elif frame.fin and kind == WSMsgType.BINARY:
            self._listener.read_binary(frame.get_payload_as_bytes())
        elif kind in (WSMsgType.PING, WSMsgType.PONG):
            self._read_control(kind, frame.get_payload_as_bytes())
        else:
            self._join(frame)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """See WSListener."""
        if self._transport is None:
            return
        self._transport = None
        self._listener.bot_lost(*_loss(transport))

    def pause_writing(self) -> None:
        """See WSListener: the bot has not read for so long that its buffer is full."""
        if self._transport is not None:
            text = f"{MAX_UNSENT_BYTES} bytes were sent and not read"
            self.abort()
            self._listener.bot_lost("slow-reader", text)

    def resume_writing(self) -> None:
        """See WSListener."""

    def _read_control(self, kind: WSMsgType, data: bytes) -> None:
        self._listener.count_frame(len(data))
        if kind == WSMsgType.PING:
            self._send(WSMsgType.PONG, data)

    def _join(self, frame: WSFrame) -> None:
        """Collect a message that is sent in parts."""
        if frame.msg_type != WSMsgType.CONTINUATION:
            self._fragments.clear()
            self._is_text = frame.msg_type == WSMsgType.TEXT
        self._fragments += frame.get_payload_as_memoryview()
        if len(self._fragments) > MAX_MESSAGE_BYTES:
            self.abort()
            self._listener.bot_lost("too-large", _TOO_LARGE)
        elif frame.fin:
            data = bytes(self._fragments)
            self._fragments.clear()
            (self._listener.read_text if self._is_text else self._listener.read_binary)(data)
        else:
            self._listener.count_frame(0)  # its bytes count with the whole message


def _shut(connected: socket.socket) -> None:
    """Have a socket closed by the transport that may own it, which ws_connect leaves open."""
    with suppress(OSError):  # it was closed
        connected.shutdown(socket.SHUT_RDWR)


_TOO_LARGE = f"a message has more than {MAX_MESSAGE_BYTES} bytes"


def _loss(transport: WSTransport) -> tuple[EndReason, str]:
    """Return why a connection has ended."""
    handshake = transport.close_handshake
    if handshake is None:
        return "bot-lost", "the connection broke"
    sent, received = handshake.sent, handshake.recv
    if sent is not None and not handshake.recv_then_sent:
        # A frame was refused: whatever the bot answers to that close is not why it has ended.
        if sent.code == WSCloseCode.MESSAGE_TOO_BIG:
            return "too-large", _TOO_LARGE
        return "bot-lost", sent.reason or "the connection broke"
    if received is None:
        return "bot-lost", "the connection broke"
    if received.code in _ORDINARY:
        return "bot-closed", received.reason or ""
    code = received.code.value if isinstance(received.code, WSCloseCode) else received.code
    return "bot-lost", f"closed with {code} {received.reason or ''}".strip()
