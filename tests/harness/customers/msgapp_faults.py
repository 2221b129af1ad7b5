"""Faults of the simulated messaging platform; each answers one request in its place."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
Fault = Callable[[web.Request, Serve], Awaitable[web.StreamResponse]]
NO_ANSWER_S = 60
HUGE_BYTES = 6_000_000


def error(status: int, code: int, text: str, **more: object) -> web.Response:
    """Return an error in the form of the platform's documentation."""
    fields = {
        "message": f"(#{code}) {text}",
        "type": "OAuthException",
        "code": code,
        "fbtrace_id": "AbCdEf123",
        **more,
    }
    return web.json_response({"error": fields}, status=status)


def fails(status: int, code: int = 1, text: str = "An unknown error", **more: object) -> Fault:
    """Answer with an error."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        return error(status, code, text, **more)

    return serve


def rate_limited(
    headers: Mapping[str, str] | None = None, *, status: int = 429, code: int = 80007
) -> Fault:
    """Answer that a rate limit is reached; the headers may say how long to wait."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        answer = error(status, code, "Rate limit issues")
        answer.headers.update(headers or {})
        return answer

    return serve


def usage_header(minutes: int) -> dict[str, str]:
    """Return the header with the usage and the minutes until requests are accepted again."""
    value = {"type": "msgapp", "call_count": 100, "estimated_time_to_regain_access": minutes}
    return {"X-Business-Use-Case-Usage": json.dumps({"102290129340398": [value]})}


def answers(body: bytes, status: int = 200, kind: str = "application/json") -> Fault:
    """Answer with these bytes."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=kind)

    return serve


def oversized() -> Fault:
    """Answer with a huge body without a Content-Length header."""

    async def serve(request: web.Request, _serve: Serve) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for _ in range(HUGE_BYTES // 65_536):
            await response.write(b" " * 65_536)
        return response

    return serve


def redirects(url: str) -> Fault:
    """Redirect to another address."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        raise web.HTTPFound(url)

    return serve


def never_answers() -> Fault:
    """Read the request and never answer."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        await asyncio.sleep(NO_ANSWER_S)
        return web.Response()

    return serve


def disconnects() -> Fault:
    """Abort the connection."""

    async def serve(request: web.Request, _serve: Serve) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return serve


def passes_through() -> Fault:
    """Answer without a fault."""

    async def serve(request: web.Request, serve_normally: Serve) -> web.StreamResponse:
        return await serve_normally(request)

    return serve


def delayed() -> tuple[Fault, Callable[[], None]]:
    """Compute the answer at once and send it when the returned function is called."""
    released = asyncio.Event()

    async def serve(request: web.Request, serve_normally: Serve) -> web.StreamResponse:
        answer = await serve_normally(request)
        await released.wait()
        return answer

    return serve, released.set


def fails_after_serving(fault: Fault) -> Fault:
    """Process the request, but answer with a fault."""

    async def serve(request: web.Request, serve_normally: Serve) -> web.StreamResponse:
        await serve_normally(request)
        return await fault(request, serve_normally)

    return serve
