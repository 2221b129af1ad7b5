"""JSON requests and responses: input is parsed and validated once, here."""

from typing import TypeVar

import msgspec
from aiohttp import web

from wire.errors import BadInput, from_decoder

T = TypeVar("T")
MAX_BODY_BYTES = 262_144


async def read_body(request: web.Request, shape: type[T]) -> T:
    """Decode a JSON body; raises BadInput with the path of the invalid field."""
    body = await request.read()
    try:
        return msgspec.json.decode(body or b"{}", type=shape)
    except msgspec.DecodeError as error:
        raise from_decoder(error, shape=shape, given=body) from None
    except UnicodeDecodeError:
        raise BadInput("", "not UTF-8") from None
    except RecursionError:
        raise BadInput("", "nested too deep", "too_deep") from None


def read_query(request: web.Request, shape: type[T]) -> T:
    """Decode the query string; raises BadInput with the invalid field."""
    query = dict(request.query)
    try:
        return msgspec.convert(query, shape, strict=False)
    except msgspec.ValidationError as error:
        raise from_decoder(error, shape=shape, given=query) from None


def json_response(body: object, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json"
    )
