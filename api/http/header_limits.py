"""Limits connections, the size of a request's head, and the time of heads, bodies and responses.

uvicorn has none of these limits, and rejects what is no request with a plain text, not a problem.
All this arrives before authentication; without limits anyone could fill the memory, or hold
connections open for ever.
"""

import asyncio
import sys
from http import HTTPStatus
from typing import Any

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.http.connection_limits import ConnectionLimits
from api.http.write_deadline import WRITE_TIMEOUT_S, WriteDeadline
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem

MAX_HEADER_BYTES = 65_536
HEADER_TIMEOUT_S = 20.0
MIN_BODY_BYTES_PER_S = 1_024  # in each period of the timeout, until the body ends


class HeaderLimits(HttpToolsProtocol):
    """Closes a connection whose next head is too large or incomplete after the timeout.

    It also closes one whose body arrives too slowly, one whose responses are not read, and one
    that exceeds the connection limits.
    """

    timeout_s = HEADER_TIMEOUT_S
    write_timeout_s = WRITE_TIMEOUT_S
    _write_deadline: WriteDeadline
    _pending_bytes = 0  # since the last complete head, or piece of a body
    _body_bytes = 0  # in this period
    _deadline: asyncio.TimerHandle | None = None

    def __init__(
        self, *arguments: Any, limits: ConnectionLimits | None = None, **others: Any
    ) -> None:
        super().__init__(*arguments, **others)
        self._limits = limits

    def connection_made(self, transport: Any) -> None:
        clients = [getattr(each, "client", None) for each in self.connections]
        others = [client[0] for client in clients if client]
        super().connection_made(transport)
        self._write_deadline = WriteDeadline(self.loop, transport, self.write_timeout_s)
        if self._limits and self.client and not self._limits.has_room(self.client[0], others):
            transport.abort()
            return
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        self._write_deadline.stop()
        super().connection_lost(exc)

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

    def data_received(self, data: bytes) -> None:
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEADER_BYTES:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Reject what cannot be parsed with a problem; 501 for a method that nothing has.

        It cannot be 405: which methods `Allow` must name depends on the path, which is not read.
        """
        is_of_method = isinstance(sys.exception(), httptools.HttpParserInvalidMethodError)
        status = HTTPStatus.NOT_IMPLEMENTED if is_of_method else HTTPStatus.BAD_REQUEST
        code = "method_not_allowed" if is_of_method else code_of_status(status)
        detail = "no path has this method" if is_of_method else msg
        end_with_problem(self.transport, status, code, detail)

    def on_message_begin(self) -> None:
        self._stop_deadline()  # what has arrived with it still counts as its head
        self._start_deadline()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._clear_deadline()
        self._start_body_period()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._clear_deadline()
        super().on_message_complete()

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


def end_with_problem(transport: Any, status: HTTPStatus, code: str, detail: str) -> None:
    """Write a response with a problem to a connection that no application serves, and close it."""
    body = msgspec.json.encode(coded_problem(status, code, detail))
    head = (
        f"HTTP/1.1 {status} {status.phrase}\r\n"
        "content-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    transport.write(head.encode() + body)
    transport.close()
