"""How the messaging platform's double goes wrong: each answers one request in place of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
Fault = Callable[[web.Request, Serve], Awaitable[web.StreamResponse]]
SILENT_S = 60
HUGE_BYTES = 6_000_000


def error(status: int, code: int, text: str, **more: object) -> web.Response:
    """Make an error as the platform's documentation shows them."""
    told = {
        "message": f"(#{code}) {text}",
        "type": "OAuthException",
        "code": code,
        "fbtrace_id": "AbCdEf123",
        **more,
    }
    return web.json_response({"error": told}, status=status)


def fails(status: int, code: int = 1, text: str = "An unknown error", **more: object) -> Fault:
    """Answer with an error."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        return error(status, code, text, **more)

    return serve


def rate_limited(
    headers: Mapping[str, str] | None = None, *, status: int = 429, code: int = 80007
) -> Fault:
    """Say that a limit is reached; the headers may tell how long to wait."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        answer = error(status, code, "Rate limit issues")
        answer.headers.update(headers or {})
        return answer

    return serve


def usage_header(minutes: int) -> dict[str, str]:
    """Make the header that tells how much is used, and when there is room again."""
    told = {"type": "msgapp", "call_count": 100, "estimated_time_to_regain_access": minutes}
    return {"X-Business-Use-Case-Usage": json.dumps({"102290129340398": [told]})}


def answers(body: bytes, status: int = 200, kind: str = "application/json") -> Fault:
    """Answer with bytes, whatever they are."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        return web.Response(body=body, status=status, content_type=kind)

    return serve


def oversized() -> Fault:
    """Answer with more than anybody wants to hold, and do not say so before."""

    async def serve(request: web.Request, _serve: Serve) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for _ in range(HUGE_BYTES // 65_536):
            await response.write(b" " * 65_536)
        return response

    return serve


def redirects(url: str) -> Fault:
    """Lead somewhere else."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        raise web.HTTPFound(url)

    return serve


def never_answers() -> Fault:
    """Take the request and never answer."""

    async def serve(_request: web.Request, _serve: Serve) -> web.StreamResponse:
        await asyncio.sleep(SILENT_S)
        return web.Response()

    return serve


def disconnects() -> Fault:
    """Break the connection off."""

    async def serve(request: web.Request, _serve: Serve) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return serve


def passes_through() -> Fault:
    """Answer as ever."""

    async def serve(request: web.Request, really: Serve) -> web.StreamResponse:
        return await really(request)

    return serve


def delayed() -> tuple[Fault, Callable[[], None]]:
    """Answer as things were when it was asked, but only when it is let go."""
    gate = asyncio.Event()

    async def serve(request: web.Request, really: Serve) -> web.StreamResponse:
        answer = await really(request)
        await gate.wait()
        return answer

    return serve, gate.set


def fails_after_serving(fault: Fault) -> Fault:
    """Do what was asked, and answer with a fault all the same."""

    async def serve(request: web.Request, really: Serve) -> web.StreamResponse:
        await really(request)
        return await fault(request, really)

    return serve
