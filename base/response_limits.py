"""Limits what a customer's server may send around a body, which aiohttp reads without a limit.

aiohttp skips 1xx responses, blank lines and chunk extensions for as long as they arrive. It reads
all that one read of the socket brings before another task has its turn, and a tiny chunk takes as
long as a large one. So connections count what is no body, and break where there is too much of it.
"""

import asyncio
from functools import partial
from typing import Any

from aiohttp import ClientError, StreamReader, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

MAX_HEAD_BYTES = 131_072  # of a response, and of the 1xx responses before it
MAX_INTERIM_RESPONSES = 8  # `100 Continue`, and some `103 Early Hints`
MAX_FRAMING_BYTES = 32_768  # of chunks: their sizes, extensions and trailers,
BODY_PER_FRAMING = 4  # and one byte more of them for so many of the body
READ_BUFFER_BYTES = 65_536  # of a body that is not consumed; aiohttp keeps twice as much
_PIECE_BYTES = 16_384  # are read before they are counted
_SWITCHING_PROTOCOLS = 101
_INTERIM = range(100, 200)


class ExcessiveResponse(ClientError):
    """A response has far more around its body than HTTP needs; the text says of what."""


class LimitedResponseHandler(ResponseHandler):
    """A connection that breaks when a response exceeds the limits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._begin()

    def _begin(self) -> None:
        self._received_bytes = 0  # of heads, and then of what follows the head
        self._interim_responses = 0
        self._has_head = False
        self._excess = ""  # what there was too much of

    def set_response_params(self, **params: Any) -> None:
        """See ResponseHandler: a request begins."""
        self._begin()
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol; aiohttp passes nothing when a body that was paused goes on."""
        for begin in range(0, max(len(data), 1), _PIECE_BYTES):
            if self._excess:
                return
            piece = data[begin : begin + _PIECE_BYTES]
            self._received_bytes += len(piece)
            super().data_received(piece)
            self._check()

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """See DataQueue: take the head of a response."""
        code = data[0].code
        if self._has_head:
            self._excess = "responses"
        elif code in _INTERIM and code != _SWITCHING_PROTOCOLS:
            self._interim_responses += 1
            if self._interim_responses > MAX_INTERIM_RESPONSES:
                self._excess = "1xx responses"
        else:
            self._has_head = True
            self._received_bytes = 0
        super().feed_data(data, size)

    def _check(self) -> None:
        if not self._excess and self._is_excessive():
            self._excess = "bytes around a body" if self._has_head else "bytes before a response"
        if self._excess:
            self._break_off(ExcessiveResponse(f"too many {self._excess}"))

    def _is_excessive(self) -> bool:
        if not self._has_head:
            return self._received_bytes > MAX_HEAD_BYTES
        if self._reading_paused or self._payload is None:  # some of it is not parsed, or it is lost
            return False
        body_bytes = self._payload.total_bytes
        framing_bytes = self._received_bytes - body_bytes
        return framing_bytes > MAX_FRAMING_BYTES + body_bytes // BODY_PER_FRAMING

    def _break_off(self, error: ExcessiveResponse) -> None:
        body, self._payload, self._parser = self._payload, None, None
        self.set_exception(error)
        if body is not None:
            body.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class LimitedConnector(TCPConnector):
    """Opens such connections; see TCPConnector."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # aiohttp has no argument for it.
        factory = partial(LimitedResponseHandler, self._loop)
        self._factory = factory  # type: ignore[assignment]  # a partial of the base class
