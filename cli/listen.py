"""Answers webhooks with a local server: the listener over REST, and what is forwarded."""

import asyncio
import http.client
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from base.tasks import cancel_all
from cli.errors import RequestRejected, Unreachable, UsageError
from cli.http_client import abort, tls_context
from cli.options.connection import is_url
from cli.rest_client import RestClient
from wire.listeners import ListenerRequest, ListenerRequests, ListenerResponse

PATH = ("voice", "listeners")
FIRST = "0-0"
WAIT_S = 5  # a connection that is lost without a trace is noticed so late
FIRST_RETRY_S, LONGEST_RETRY_S = 0.5, 8.0
DELETE_TIMEOUT_S = 3.0
_TRANSIENT = {"no_engine", "store_down", "unavailable", "too_many_requests", "request_rate"}
Show = Callable[[ListenerRequest, ListenerResponse, str], None]
Say = Callable[[str], None]
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


class ListenSession:
    """Runs until it is cancelled, or until its listener is replaced or has reached its end."""

    def __init__(
        self,
        rest: RestClient,
        server: LocalServer,
        subject: Mapping[str, str],
        show: Show,
        say: Say,
    ) -> None:
        self._rest = rest
        self._server = server
        self._subject = dict(subject)
        self._show = show
        self._say = say
        self._listener = ""
        self._after = FIRST
        self._seen: set[str] = set()
        self._forwards: set[asyncio.Task[None]] = set()

    async def run(self, started: str) -> None:
        """Start a listener, say so, and forward its requests; raises RequestRejected."""
        await self._start()
        try:
            self._say(started)
            while True:
                await self._poll_with_retries()
        finally:
            await cancel_all(self._forwards)
            with suppress(RequestRejected, Unreachable, TimeoutError):
                async with asyncio.timeout(DELETE_TIMEOUT_S):
                    await self._rest.send("DELETE", *PATH, self._listener)

    async def _start(self) -> None:
        made = await self._rest.request(dict[str, Any], "POST", *PATH, body=self._subject)
        self._listener, self._after = str(made["id"]), FIRST

    async def _poll_with_retries(self) -> None:
        """Poll once; while the REST layer or its engines are away, again and again."""
        wait_s = FIRST_RETRY_S
        while True:
            try:
                await self._poll()
            except Unreachable as error:
                self._say(f"{error}; trying again")
            except RequestRejected as error:
                if error.problem.code == "unauthenticated":
                    self._rest.forget_token()  # raises the same again if the key is revoked
                    await self._poll()
                elif error.problem.code == "not_found":  # the store lost it, or its lease is over
                    self._say("the listener has ended; starting it again")
                    await self._start()
                elif error.problem.code not in _TRANSIENT:
                    raise
                else:
                    self._say(f"{error}; trying again")
            else:
                return
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_RETRY_S)

    async def _poll(self) -> None:
        query = {"after": self._after, "wait": str(WAIT_S)}
        path = (*PATH, self._listener, "requests")
        found = await self._rest.request(ListenerRequests, "GET", *path, query=query)
        self._after = found.after
        for request in found.requests:
            if request.id not in self._seen:
                self._seen.add(request.id)
                task = asyncio.get_running_loop().create_task(self._forward(request))
                self._forwards.add(task)
                task.add_done_callback(self._forwards.discard)

    async def _forward(self, request: ListenerRequest) -> None:
        response = await self._server.forward(request)
        path = (*PATH, self._listener, "responses", request.id)
        note = ""
        try:
            reply = await self._rest.send("POST", *path, body=msgspec.to_builtins(response))
        except (RequestRejected, Unreachable) as error:
            note = f"the response was not sent: {error}"
        else:
            if reply.status == HTTPStatus.CONFLICT:
                note = "too late: the call has gone on"
            elif reply.status >= HTTPStatus.BAD_REQUEST:
                note = f"the response was rejected with {reply.status}"
        self._show(request, response, note)
