"""What a customer's server may send around a body before its connection is broken."""

import asyncio
from unittest.mock import create_autospec

import pytest
from aiohttp import StreamReader
from aiohttp.http import RawResponseMessage

from base.response_limits import ExcessiveResponse, LimitedResponseHandler

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
OK = HEAD + b"Content-Length: 2\r\n\r\n{}"
READ_BYTES = 262_144  # what a socket brings at once


class Connection:
    """A connection with a request in flight."""

    def __init__(self) -> None:
        self.transport = create_autospec(asyncio.Transport, instance=True)
        self.handler = LimitedResponseHandler(asyncio.get_running_loop())
        self.handler.connection_made(self.transport)
        self.request()

    def request(self) -> None:
        self.handler.set_response_params(read_bufsize=65_536, max_field_size=65_536)

    def receive(self, data: bytes, piece: int = READ_BYTES) -> None:
        for begin in range(0, len(data), piece):
            self.handler.data_received(data[begin : begin + piece])

    @property
    def is_broken(self) -> bool:
        return bool(self.transport.abort.called)

    async def response(self) -> tuple[RawResponseMessage, StreamReader]:
        """Return the next response, 1xx or not; raises ExcessiveResponse."""
        return await self.handler.read()

    async def consume(self) -> None:
        """Read responses and their bodies, of which more is parsed then, until it breaks."""
        while True:
            _, body = await self.response()
            while not self.is_broken:
                await body.readany()


@pytest.mark.parametrize("piece", [READ_BYTES, 1_000, 97], ids=lambda piece: f"by {piece}")
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (CONTINUE * 300, "1xx responses"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 9 + OK, "1xx responses"),
        (b"\r\n" * 100_000, "bytes before a response"),
        (HEAD + b"".join(b"A%d: %s\r\n" % (n, b"x" * 60_000) for n in range(3)),
         "bytes before a response"),
        (CHUNKED + b"2;" + b"x" * 60_000, "bytes around a body"),
        (CHUNKED + b"1;extension=1\r\n \r\n" * 10_000, "bytes around a body"),
        (CHUNKED + b"1\r\n \r\n" * 20_000, "bytes around a body"),
        (CHUNKED + b"c\r\n0123456789ab\r\n" * 40_000, "bytes around a body"),
        (CHUNKED + b"1\r\n \r\n0\r\nA: " + b"x" * 60_000, "bytes around a body"),
        (OK * 2, "responses"),
        (OK + CONTINUE, "responses"),
    ],
)  # fmt: skip
async def test_a_response_breaks_its_connection(data: bytes, what: str, piece: int) -> None:
    """However its bytes arrive; who waits for the response or its body gets the reason."""
    connection = Connection()
    connection.receive(data, piece)
    with pytest.raises(ExcessiveResponse, match=f"too many {what}$"):
        await connection.consume()
    assert connection.is_broken
    assert connection.handler.should_close


@pytest.mark.parametrize("piece", [READ_BYTES, 1_000, 97], ids=lambda piece: f"by {piece}")
@pytest.mark.parametrize(
    ("data", "body"),
    [
        (CONTINUE + b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 7 + OK, b"{}"),
        (HEAD + b"A: " + b"x" * 60_000 + b"\r\nB: " + b"x" * 60_000 +
         b"\r\nContent-Length: 0\r\n\r\n", b""),
        (CHUNKED + b"1\r\n \r\n" * 5_000 + b"0\r\n\r\n", b" " * 5_000),
        (CHUNKED + b"20;a=b\r\n" + b"x" * 32 + b"\r\n40\r\n" + b"x" * 64 +
         b"\r\n0\r\nA: b\r\n\r\n", b"x" * 96),
        (CHUNKED + (b"1000\r\n" + b"x" * 4_096 + b"\r\n") * 40 + b"0\r\n\r\n", b"x" * 163_840),
        (HEAD + b"Content-Length: 160000\r\n\r\n" + b"x" * 160_000, b"x" * 160_000),
    ],
)  # fmt: skip
async def test_a_response_that_is_read(data: bytes, body: bytes, piece: int) -> None:
    """What proxies, content networks and frameworks send; the connection is used again."""
    connection = Connection()
    for _ in range(2):
        connection.request()
        connection.receive(data, piece)
        message, payload = await connection.response()
        while message.code < 200:
            message, payload = await connection.response()
        received = b""
        while len(received) < len(body):
            received += await payload.readany()
        assert received == body
        assert not connection.is_broken


async def test_a_response_without_a_request() -> None:
    """It breaks a connection that waits for the next request, which does not get it."""
    connection = Connection()
    connection.receive(OK)
    await connection.response()
    connection.receive(OK)
    assert connection.is_broken
