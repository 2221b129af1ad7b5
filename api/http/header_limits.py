"""Limits connections, what a request costs to parse, and the time of heads, bodies and responses.

uvicorn has none of these limits, and rejects what is no request with a plain text, not a problem.
All this arrives before authentication; without limits anyone could fill the memory, hold
connections open for ever, or keep the event loop from others: a tiny request, field or chunk takes
as long as a large one, and uvicorn parses all that one read of the socket brings.
"""

import asyncio
import struct
import sys
from collections.abc import Collection
from fcntl import ioctl
from http import HTTPStatus
from termios import TIOCOUTQ  # the bytes that a socket has not delivered (man 7 tcp, SIOCOUTQ)
from typing import Annotated, Any, NamedTuple

import httptools
import msgspec
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.http.connection_limits import ConnectionLimits
from base.limit import Limit
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem

MAX_HEADER_BYTES: Annotated[
    int, Limit("request", "431, and the connection is closed", "Size of the head.")
] = 16_384
MAX_FIELDS: Annotated[
    int, Limit("request", "431, and the connection is closed", "Header fields, with trailers.")
] = 100
MAX_CHUNKS: Annotated[
    int, Limit("request", "the connection is closed", "Chunks, and one more for each 32 bytes.")
] = 500
BYTES_PER_CHUNK = 32
MAX_QUEUED: Annotated[
    int, Limit("address", "the connection is closed", "Pipelined requests of one connection.")
] = 16
# Of a body whose response is complete: a client that has sent it reads the response then.
MAX_UNREAD_BYTES = 16_777_216
READ_BYTES = 16_384  # at once: other connections have their turn then
HEADER_TIMEOUT_S = 20.0
# A connection that has exceeded a limit is read no more, and closed after a while: so the client
# can read its responses (RFC 9112, 9.6), and who opens it again at once has to wait.
CLOSE_AFTER_S = 1.0
_HEAD_STATUS = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
MIN_BODY_BYTES_PER_S = 1_024  # in each period of the timeout, until the body ends
# As long as a reader of live events may take for one chunk (api/http/event_stream.py).
WRITE_TIMEOUT_S = 30.0


class _Exceeded(Exception):
    """What exceeds a limit, and its status; raised in a callback, it stops the parser."""

    def __init__(self, what: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(what)
        self.status = status


class _QueueFlow(FlowControl):
    """Reads nothing more while requests wait for an earlier response, or once it has ended."""

    has_ended = False

    def __init__(self, transport: asyncio.Transport, queue: Collection[object]) -> None:
        super().__init__(transport)
        self._queue = queue

    def resume_reading(self) -> None:
        if not (self._queue or self.has_ended):
            super().resume_reading()


class HeaderLimits(HttpToolsProtocol, asyncio.BufferedProtocol):
    """Closes a connection whose next head is too large or incomplete after the timeout.

    It also closes one whose body arrives too slowly, or in too many chunks, one with too many
    requests at once, one whose responses are not read, and one that exceeds the connection limits
    or waits for a request while others need its place.
    """

    timeout_s = HEADER_TIMEOUT_S
    write_timeout_s = WRITE_TIMEOUT_S
    _write_deadline: "WriteDeadline"
    _pending_bytes = 0  # since the last complete head, or piece of a body
    _head_bytes = 0  # of complete fields
    _fields = 0
    _chunks = 0
    _is_in_body = False
    _body_bytes = 0  # in this period
    _read_bytes = 0  # of the body, before its response is complete,
    _unread_bytes = 0  # and after that
    _buffer = bytearray()
    flow: _QueueFlow
    _served: RequestResponseCycle | None = None  # `cycle` is the latest one, which may be queued
    _deadline: asyncio.TimerHandle | None = None

    def __init__(
        self, *arguments: Any, limits: ConnectionLimits | None = None, **others: Any
    ) -> None:
        super().__init__(*arguments, **others)
        self._limits = limits
        self._network = ""  # for the limits

    def connection_made(self, transport: Any) -> None:
        clients = [getattr(each, "client", None) for each in self.connections]
        others = [client[0] for client in clients if client]
        super().connection_made(transport)
        self.flow = _QueueFlow(transport, self.pipeline)
        self._write_deadline = WriteDeadline(self.loop, transport, self.write_timeout_s)
        if self._limits and self.client:
            if not self._limits.make_room(self.client[0], others):
                transport.abort()
                return
            self._network = self._limits.owner(self.client[0])
            self._wait()
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        self._write_deadline.stop()
        self._stop_waiting()
        self.pipeline.clear()  # each of them refers to this protocol
        if self._served:  # uvicorn tells the latest one only
            self._served.disconnected = True
            self._served.message_event.set()
        super().connection_lost(exc)

    @property
    def may_be_closed(self) -> bool:
        """See Connection; the rest of a body that has its response does not matter."""
        is_read = self._is_in_body and not self.cycle.response_complete
        return not (is_read and "caller" in self.scope.get("state", ()))

    def give_way(self) -> None:
        """See Connection."""
        self.transport.abort()

    def _wait(self) -> None:
        """Note that no complete request has come since now."""
        if self._limits and not self.transport.is_closing():
            self._limits.waiting.add(self._network, self)

    def _stop_waiting(self) -> None:
        if self._limits:
            self._limits.waiting.remove(self._network, self)

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        self._write_deadline.start()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._write_deadline.stop()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._write_deadline.responses += 1
        if self.transport.get_write_buffer_size():  # it stays, even if the connection is closed
            self._write_deadline.start()
        super().on_response_complete()
        self.flow.resume_reading()  # the queue may be empty now
        is_last = not self.pipeline and (self._is_in_body or self.cycle.response_complete)
        if is_last and not self.transport.get_write_buffer_size():  # else the client is reading
            self._wait()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - its name is asyncio's
        """See asyncio.BufferedProtocol: limit what is read, and parsed, at once."""
        self._buffer = bytearray(READ_BYTES)
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio.BufferedProtocol."""
        data, self._buffer = bytes(memoryview(self._buffer)[:nbytes]), bytearray()
        self.data_received(data)

    def data_received(self, data: bytes) -> None:
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEADER_BYTES and not self.flow.has_ended:
            self._end(_too_large(self._is_in_body))

    def send_400_response(self, msg: str) -> None:
        """Reject what cannot be parsed with a problem; 501 for a method that nothing has.

        It cannot be 405: which methods `Allow` must name depends on the path, which is not read.
        """
        error = sys.exception()
        if isinstance(error, httptools.HttpParserInvalidMethodError):
            what, status = "no path has this method", HTTPStatus.NOT_IMPLEMENTED
            self._end(_Exceeded(what, status), "method_not_allowed")
        elif error and isinstance(error.__context__, _Exceeded):
            self._end(error.__context__)
        else:
            self._end(_Exceeded(msg))

    def _end(self, reason: _Exceeded, code: str = "") -> None:
        """Read no more, and close; say why, if no response to another request is due first."""
        self.flow.has_ended = True
        self.flow.pause_reading()
        self._stop_deadline()
        self._deadline = self.loop.call_later(CLOSE_AFTER_S, self._close)
        if self._may_respond():
            if self._is_in_body:
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            code = code or code_of_status(reason.status)
            _write_problem(self.transport, reason.status, code, str(reason))

    def _close(self) -> None:
        if self.transport.get_write_buffer_size():
            self._write_deadline.start()
        self.transport.close()

    def _may_respond(self) -> bool:
        if self._is_in_body:
            return not (self.pipeline or self.cycle.response_started)
        return self.cycle is None or (not self.pipeline and self.cycle.response_complete)

    def on_message_begin(self) -> None:
        self._stop_deadline()  # what has arrived with it still counts as its head
        self._start_deadline()
        self._head_bytes = self._fields = self._chunks = 0
        self._read_bytes = self._unread_bytes = 0
        if self._may_respond():  # its response may still have been sent when it was complete
            self._wait()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > MAX_FIELDS:
            raise _Exceeded(f"more than {MAX_FIELDS} header fields", _HEAD_STATUS)
        self._count_head(len(name) + len(value))
        if not self._is_in_body:  # a trailer could replace a field that a proxy has checked
            super().on_header(name, value)

    def _count_head(self, count: int) -> None:
        self._head_bytes += count
        if self._head_bytes > MAX_HEADER_BYTES:
            raise _too_large(self._is_in_body)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) == MAX_QUEUED:
            raise _Exceeded("too many pipelined requests")
        self._clear_deadline()
        self._start_body_period()
        super().on_headers_complete()
        if self.parser.should_upgrade() and not self._should_upgrade():
            # Its body would be read as the next request, which a proxy may not have seen.
            self.cycle.keep_alive = False
        self._is_in_body = True

    def on_chunk_header(self) -> None:
        """Count what takes time for each chunk, however small."""
        self._chunks += 1
        if self._chunks > MAX_CHUNKS + self._read_bytes // BYTES_PER_CHUNK:
            raise _Exceeded(f"more than {MAX_CHUNKS} chunks of less than {BYTES_PER_CHUNK} bytes")

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        self._body_bytes += len(body)
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self._unread_bytes > MAX_UNREAD_BYTES:
                raise _Exceeded("a body that is not read")
        else:
            self._read_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_body = False
        self._clear_deadline()
        if self.cycle is None or not self.cycle.response_complete:
            self._stop_waiting()
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def _start_body_period(self) -> None:
        self._body_bytes = 0
        self._deadline = self.loop.call_later(self.timeout_s, self._check_body)

    def _check_body(self) -> None:
        # While the application does not read, the client is not slow.
        is_slow = self._body_bytes < MIN_BODY_BYTES_PER_S * self.timeout_s
        if is_slow and not self.flow.read_paused:
            self.transport.close()
        else:
            self._start_body_period()

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.timeout_s, self.transport.close)

    def _clear_deadline(self) -> None:
        self._pending_bytes = 0
        self._stop_deadline()

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()


def _too_large(is_in_body: bool) -> _Exceeded:
    if is_in_body:
        return _Exceeded(f"more than {MAX_HEADER_BYTES} bytes around a chunk")
    return _Exceeded(f"a head of more than {MAX_HEADER_BYTES} bytes", _HEAD_STATUS)


def end_with_problem(transport: Any, status: HTTPStatus, code: str, detail: str) -> None:
    """Write a response with a problem to a connection that no application serves, and close it."""
    _write_problem(transport, status, code, detail)
    transport.close()


def _write_problem(transport: Any, status: HTTPStatus, code: str, detail: str) -> None:
    body = msgspec.json.encode(coded_problem(status, code, detail))
    head = (
        f"HTTP/1.1 {status} {status.phrase}\r\n"
        "content-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    transport.write(head.encode() + body)


class _Progress(NamedTuple):
    responses: int
    pending_bytes: int


class WriteDeadline:
    """Aborts a transport that delivers nothing of what it holds during a period of the timeout."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, timeout_s: float
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._timeout_s = timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._last = _Progress(0, 0)
        self.responses = 0  # that have been written completely; each may add to what is held

    def start(self) -> None:
        """Begin to watch, unless it does."""
        if self._timer is None:
            self._start_period()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_period(self) -> None:
        self._last = self._progress()
        self._timer = self._loop.call_later(self._timeout_s, self._check)

    def _check(self) -> None:
        self._timer = None
        if not self._transport.get_write_buffer_size():
            return
        now = self._progress()
        if now.responses == self._last.responses and now.pending_bytes >= self._last.pending_bytes:
            self._transport.abort()
        else:
            self._start_period()

    def _progress(self) -> _Progress:
        """Return the state; without the socket's bytes a slow reader would seem to read nothing."""
        sent = ioctl(self._transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4))
        in_socket = struct.unpack("i", sent)[0]
        return _Progress(self.responses, self._transport.get_write_buffer_size() + in_socket)
