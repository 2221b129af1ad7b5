"""The HTTP server of a gateway: streams, reports, recognizers, health and metrics."""

import hmac
import platform
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

import aiohttp
import msgspec
import structlog
from aiohttp import web
from aiohttp.typedefs import Middleware
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from yarl import URL

from base.http_client import failure_word
from base.listen import listening
from base.metrics import CurrentValues, Family, Labels, Metadata, text_of
from streams.bots.destinations import RecognizerServer
from streams.control.reports import HEARTBEAT_S, ReportHub, send_reports
from streams.control.service import StreamService
from streams.control.table import NoRoom
from streams.stream.metrics import StreamMetrics
from wire.decoding import lenient
from wire.decoding.errors import BadInput, InputErrors
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.rpc import FieldError
from wire.streams.recognizer import ListedRecognizer, RecognizerList
from wire.streams.setup import Accepted, StreamMessage, StreamSetup

_TIMEOUT = aiohttp.ClientTimeout(total=3.0)
_decode = msgspec.json.Decoder(tuple[ListedRecognizer, ...]).decode


class RecognizerDirectory:
    """Asks the operator's server of recognizers what it has."""

    def __init__(self, server: RecognizerServer | None, trust: ssl.SSLContext) -> None:
        self._server = server
        self._trust = trust

    async def read(self) -> RecognizerList:
        """Return the recognizers, or why there are none."""
        server = self._server
        if server is None:
            return RecognizerList(error="SWITCHROOM_STREAMS_RECOGNIZERS is not set")
        base = URL(server.url)
        url = base.with_scheme("https" if base.scheme == "wss" else "http") / "recognizers"
        try:
            return await self._ask(url, {"Authorization": f"Bearer {server.token}"})
        except msgspec.MsgspecError:
            return RecognizerList(error=f"{url}: no list of recognizers")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return RecognizerList(error=f"{server.url}: {failure_word(error)}")

    async def _ask(self, url: URL, headers: dict[str, str]) -> RecognizerList:
        connector = aiohttp.TCPConnector(ssl=self._trust)
        async with (
            aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT) as http,
            http.get(url, headers=headers, allow_redirects=False) as reply,
        ):
            if not reply.ok:
                return RecognizerList(error=f"{url}: HTTP {reply.status}")
            return RecognizerList(_decode(await reply.read()))


MAX_BODY_BYTES = 262_144
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class ServerParts(Struct, frozen=True):
    """What the server exposes, and the tokens that it accepts."""

    service: StreamService
    hub: ReportHub
    metrics: StreamMetrics
    recognizers: RecognizerDirectory
    tokens: tuple[str, ...]


class Routes:
    """The handlers."""

    def __init__(self, parts: ServerParts) -> None:
        self._service = parts.service
        self._hub = parts.hub
        self._metrics = parts.metrics
        self._recognizers = parts.recognizers

    def all(self) -> Sequence[web.RouteDef]:
        """Return them with their paths."""
        return (
            web.put("/streams/{stream}", self.set_up),
            web.delete("/streams/{stream}", self.stop),
            web.put("/streams/{stream}/messages/{message}", self.send),
            web.get("/reports", self.reports),
            web.get("/recognizers", self.recognizers),
            web.get("/healthz", self.alive),
            web.get("/readyz", self.ready),
            web.get("/metrics", self.metrics),
        )

    async def set_up(self, request: web.Request) -> web.Response:
        setup = lenient.decode(await request.read() or b"{}", StreamSetup)
        stream = request.match_info["stream"]
        is_new = self._service.set_up(stream, setup)
        return _json(Accepted(stream), 201 if is_new else 200)

    async def stop(self, request: web.Request) -> web.Response:
        self._service.stop(request.match_info["stream"])
        return web.Response(status=204)

    async def send(self, request: web.Request) -> web.Response:
        stream = self._service.table.live(request.match_info["stream"])
        if stream is None:
            return problem(404, "not_found", "no live stream has this id")
        message = lenient.decode(await request.read() or b"{}", StreamMessage)
        stream.send(request.match_info["message"], message)
        return web.Response(status=204)

    async def reports(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await socket.prepare(request)
        await send_reports(socket, self._hub, self._service.table.snapshot)
        return socket

    async def recognizers(self, _request: web.Request) -> web.Response:
        return _json(await self._recognizers.read())

    async def alive(self, _request: web.Request) -> web.Response:
        return _json({"status": "ok"})

    async def ready(self, _request: web.Request) -> web.Response:
        faults = ["this gateway shuts down"] if self._service.table.is_draining else []
        body = {"ready": not faults, "faults": faults}
        return _json(body, 503 if faults else 200)

    async def metrics(self, _request: web.Request) -> web.Response:
        page = metrics_page(self._metrics, len(self._service.table), self._hub.engines)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})


@asynccontextmanager
async def serving(
    parts: ServerParts, host: str, port: int, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises BindFailed."""
    app = web.Application(
        client_max_size=MAX_BODY_BYTES,
        middlewares=[problems, authentication(parts.tokens, OPEN_PATHS)],
    )
    app.add_routes(Routes(parts).all())
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a compressed body is rejected, not decompressed
        handler_cancellation=True,
        shutdown_timeout=0.5,
    )
    async with listening(runner, host, port, tls):
        yield


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json"
    )


def metrics_page(metrics: StreamMetrics, streams: int, engines: int) -> bytes:
    """Return the page."""
    build = (version("switchroom"), platform.python_version())
    families: list[Family] = [
        _gauge(
            "switchroom_streams_build_info",
            "Version of this gateway; always 1",
            ("version", "python"),
            build,
            1,
        ),
        _gauge("switchroom_streams", "Live streams", (), (), streams),
        _gauge("switchroom_streams_engines", "Engines that read the reports", (), (), engines),
        *metrics.families,
    ]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    text = "".join(line for family in families for line in text_of(family))
    return text.encode() + generate_latest(registry)


def _gauge(name: str, text: str, labels: Labels, values: Labels, number: float) -> CurrentValues:
    return CurrentValues(Metadata(name, text, labels), ((values, number),))


log = structlog.get_logger()
PROBLEM_TYPE = "application/problem+json"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def problem(
    status: int,
    code: str,
    detail: str = "",
    errors: tuple[FieldError, ...] = (),
    headers: dict[str, str] | None = None,
) -> web.Response:
    """Return a problem response."""
    return web.Response(
        status=status,
        body=msgspec.json.encode(coded_problem(status, code, detail, errors)),
        content_type=PROBLEM_TYPE,
        headers=headers,
    )


def authentication(tokens: Collection[str], open_paths: Collection[str]) -> Middleware:
    """Return the middleware that answers requests without a token with 401."""
    bearers = [f"Bearer {token}".encode() for token in tokens]

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        # Every token is compared, so that the time does not show which one is similar.
        found = [each for each in bearers if hmac.compare_digest(given, each)]
        if found or request.path in open_paths:
            return await handler(request)
        log.warning("request denied", address=request.remote, status=401, route="streams")
        headers = {"WWW-Authenticate": "Bearer"}
        return problem(401, "unauthenticated", "wrong or no bearer token", headers=headers)

    return check


@web.middleware
async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Convert exceptions of handlers into problem responses."""
    try:
        return await handler(request)
    except InputErrors as error:
        errors = tuple(FieldError(each.path, each.message, each.code) for each in error.errors)
        return problem(400, error.errors[0].code, str(error.errors[0]), errors)
    except BadInput as error:
        errors = (FieldError(error.path, error.message, error.code),)
        return problem(400, error.code, str(error), errors)
    except NoRoom as error:
        return problem(503, "unavailable", str(error), headers={"Retry-After": "1"})
    except web.RequestPayloadError as error:
        return problem(400, "invalid", str(error))
    except web.HTTPException as error:
        headers = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
        return problem(error.status, code_of_status(error.status), error.reason, headers=headers)
    except ConnectionError:
        return web.Response()  # the client has left
    except Exception:
        log.exception("gateway request failed", path=request.path)
        return problem(500, "internal")
