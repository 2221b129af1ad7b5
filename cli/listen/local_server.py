"""Forwards webhook requests to a local server: its scheme, host and port replace the address's."""

import asyncio
import http.client
import time
from urllib.parse import quote, urlsplit

from cli.errors import UsageError
from cli.http_client import abort, tls_context
from cli.options.connection import is_url
from wire.listeners import ListenerRequest, ListenerResponse

MAX_BODY_BYTES = 131_072  # more than an action may have; the engine checks the limit
CONNECT_TIMEOUT_S = 5.0
MIN_TIMEOUT_S = 1.0  # however much the clocks differ
MAX_HEADER_CHARS = 8_192
MAX_HEADERS = 64
_SENT = "".join(map(chr, range(0x21, 0x7F)))  # as they are


class LocalServer:
    """The server that `--forward` names."""

    def __init__(self, url: str) -> None:
        """Check the URL; raises UsageError."""
        parts = urlsplit(url)
        if not is_url(url) or parts.path.strip("/") or parts.query or parts.username:
            raise UsageError(f"--forward {url}: expected a URL such as http://localhost:3000")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._host, self._port = parts.hostname or "", parts.port
        self._tls = tls_context(url, None)

    async def forward(self, request: ListenerRequest) -> ListenerResponse:
        """Send a request, and return the response, or why there is none."""
        connection = self._connection()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(None, _response, connection, request)
        except TimeoutError:
            return ListenerResponse(fault="timeout")
        except OSError:  # also one that closed the connection without a response
            return ListenerResponse(fault="connect")
        except http.client.HTTPException:
            return ListenerResponse(fault="not_http")
        finally:
            abort(connection)  # if cancelled: the thread must not outlive the command

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_TIMEOUT_S)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=CONNECT_TIMEOUT_S, context=self._tls
        )


def path_and_query(url: str) -> str:
    """Return what of an address stays, with letters beyond ASCII as they are sent."""
    parts = urlsplit(quote(url, safe=_SENT))
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _response(connection: http.client.HTTPConnection, request: ListenerRequest) -> ListenerResponse:
    connection.connect()
    connection.sock.settimeout(max(MIN_TIMEOUT_S, request.until_ms / 1000 - time.time()))
    target = path_and_query(request.url)
    connection.request(request.method, target, request.body.encode(), request.headers)
    response = connection.getresponse()
    body = response.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        return ListenerResponse(fault="too_large")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return ListenerResponse(fault="not_text")
    headers = [(name, value[:MAX_HEADER_CHARS]) for name, value in response.getheaders()]
    return ListenerResponse(status=response.status, headers=dict(headers[:MAX_HEADERS]), body=text)
