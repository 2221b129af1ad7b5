"""HTTP requests with the standard library: a command starts without the imports of an HTTP library.

Each request has a connection of its own, in a thread, so that others go on meanwhile.
"""

import asyncio
import http.client
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from ssl import SSLContext
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from base.tls import TlsFileError, client_context
from cli.errors import REST, RequestRejected, Unreachable, UsageError, error_text
from wire.decoding.messages import decode_message
from wire.rpc import Problem

T = TypeVar("T")
FIRST_ERROR_STATUS = 400
RESPONSE_TIMEOUT_S = 15.0
CONNECT_TIMEOUT_S = 3.0


class HttpResponse(NamedTuple):
    """A response that was read to its end; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Sends requests to one server; each raises Unreachable."""

    def __init__(
        self, url: str, authorization: str, tls: SSLContext | None, name: str = REST
    ) -> None:
        self.url = url
        self.authorization = authorization
        self._tls = tls
        self._name = name

    async def request(self, shape: type[T], method: str, path: str) -> T:
        """Send a request without a body; raises RequestRejected, too."""
        return self.decode(await self.send(method, path), shape)

    def decode(self, reply: HttpResponse, shape: type[T]) -> T:
        """Return what a response contains; raises RequestRejected or Unreachable."""
        self.check(reply)
        try:
            return decode_message(reply.body or b"{}", shape)
        except msgspec.DecodeError as error:
            raise Unreachable(self.url, f"invalid response ({error})", self._name) from None

    def check(self, reply: HttpResponse) -> None:
        """Raise the error of a response, if it is one."""
        if reply.status < FIRST_ERROR_STATUS:
            return
        try:
            problem = decode_message(reply.body, Problem)
        except msgspec.DecodeError:
            reason = f"another program does (HTTP {reply.status})"
            raise Unreachable(self.url, reason, self._name) from None
        raise RequestRejected(problem, self._name)

    async def send(  # noqa: PLR0913 - the parts of an HTTP request
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> HttpResponse:
        """Send one request, and read its response."""
        parts = urlsplit(self.url)
        target = f"{parts.path}{path}" + (f"?{urlencode(query)}" if query else "")
        connection = self._connection(parts.hostname or "", parts.port)
        sent = {"Authorization": self.authorization, **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        working = asyncio.get_running_loop().run_in_executor(
            None, _exchange, connection, (method, target, body, sent), timeout_s
        )
        try:
            async with asyncio.timeout(timeout_s + CONNECT_TIMEOUT_S):
                return await working
        except (OSError, http.client.HTTPException, TimeoutError) as error:
            raise Unreachable(self.url, error_text(error), self._name) from None
        finally:
            abort(connection)

    def _connection(self, host: str, port: int | None) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=CONNECT_TIMEOUT_S)
        return http.client.HTTPSConnection(host, port, timeout=CONNECT_TIMEOUT_S, context=self._tls)


def path_of(*segments: str) -> str:
    """Return a path; each segment is escaped."""
    return "".join(f"/{quote(each, safe='')}" for each in segments)


def tls_context(url: str, ca: Path | None) -> SSLContext | None:
    """Return what verifies an https server, by a CA file or by the system's; raises UsageError."""
    if not url.startswith("https:"):
        return None
    try:
        return client_context(ca)
    except TlsFileError as error:
        raise UsageError(str(error)) from None


def _exchange(
    connection: http.client.HTTPConnection,
    request: tuple[str, str, bytes | None, dict[str, str]],
    timeout_s: float,
) -> HttpResponse:
    method, target, body, headers = request
    connection.connect()
    connection.sock.settimeout(timeout_s)
    connection.request(method, target, body, headers)
    response = connection.getresponse()
    found = {name.lower(): value for name, value in response.getheaders()}
    return HttpResponse(response.status, found, response.read())


def abort(connection: http.client.HTTPConnection) -> None:
    """End a connection; a thread that still waits for it returns."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
    connection.close()
