"""JSON requests and responses: input is parsed and validated once, here."""

from typing import TypeVar

import msgspec
from aiohttp import web

from wire.decoding import lenient
from wire.decoding.json_errors import check_unique

T = TypeVar("T")
MAX_BODY_BYTES = 262_144


async def read_body(request: web.Request, shape: type[T]) -> T:
    """Decode a JSON body; raises BadInput with the path of the invalid field."""
    body = await request.read()
    found = lenient.decode(body or b"{}", shape)
    check_unique(body)
    return found


async def read_large_body(request: web.Request, shape: type[T], max_bytes: int) -> T:
    """Decode a JSON body that may be larger than those of other operations; raises BadInput."""
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > max_bytes:
            raise web.HTTPRequestEntityTooLarge(max_bytes, len(body))
    return lenient.decode(bytes(body) or b"{}", shape)


def read_query(request: web.Request, shape: type[T]) -> T:
    """Decode the query string; raises BadInput with the invalid field."""
    found: T = lenient.convert(dict(request.query), shape, strict=False)
    return found


def json_response(body: object, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json"
    )
