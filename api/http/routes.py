"""Routes whose shapes are read off the annotations of their handlers.

    routes = Routes("Voice")

    @routes.post(
        "/srmain/voice/dial", id="calls.dial", scope="calls:own", returns=Dialled, idempotent=True
    )
    async def dial(user: AuthenticatedUser, voice: Voice, body: Body[DialRequest]) -> bytes:
        \"\"\"Call a party into a live call.\"\"\"
        return await voice.dial(user, body)

A handler returns a msgspec value, JSON as bytes (`returns` names its shape), or a Response. The
first line of its docstring is the operation's summary in the OpenAPI document, the rest its
description. 400 is always documented. A handler that takes an authenticated user has a `scope`,
which is checked before anything else; 401, 403 and 429 are documented.

A parameter of the query that is repeated is an error: readers would take one, and lose the others.
A GET with `has_file` answers HEAD, too.

A body may have as many bytes as `body_size` says; else as a file's form, any authenticated request,
or a request without a key may have.

With `idempotent`, a request that is sent again with the same Idempotency-Key gets the first
response again; a parameter of type RequestId receives an id that is the same for both.
"""

import functools
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, NamedTuple, TypeVar, Unpack, get_args, get_type_hints

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security.base import SecurityBase
from msgspec import Struct

from api.http import body_limit
from api.http.body_limit import BodySize, LimitedRoute
from api.http.idempotency import IdempotencyKey, IdempotentRequest
from api.http.msgspec_adapter import json_body, json_response
from api.http.multipart import Form
from api.http.openapi_operation import Options, document_operation
from api.http.paging import has_pages, link_to_next
from wire.decoding.errors import MAX_ERRORS, BadInput, raise_errors

_TAGGED = b'{"type":"tagged",'
T = TypeVar("T")
Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


class ScopedSecurity(SecurityBase):
    """A security scheme that checks scopes."""

    def requiring(
        self, scope: str, *, names_call: bool = False
    ) -> Callable[[Request], Awaitable[Any]]:
        """Return the dependency that authenticates and requires a scope.

        Of a request that lacks the scope it notes the call that the body names, for the audit.
        """
        raise NotImplementedError


class JsonBody(NamedTuple):
    """Marks a parameter as the request's JSON body."""

    or_query: bool


class _RequestIdMarker:
    """Marks a parameter as the id of an idempotent request."""


Body = Annotated[T, JsonBody(or_query=False)]  # of a GET: the query, where there is no body
BodyOrQuery = Annotated[T, JsonBody(or_query=True)]
RequestId = Annotated[str | None, _RequestIdMarker()]


class Routes:
    """The routes of one slice, under one heading of the OpenAPI document."""

    def __init__(self, tag: str) -> None:
        self.router = APIRouter(tags=[tag], route_class=LimitedRoute)

    def get(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._decorator("GET", path, options)

    def post(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._decorator("POST", path, options)

    def put(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._decorator("PUT", path, options)

    def patch(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._decorator("PATCH", path, options)

    def delete(self, path: str, **options: Unpack[Options]) -> Callable[[Handler], Handler]:
        return self._decorator("DELETE", path, options)

    def _decorator(self, method: str, path: str, options: Options) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            self._add(method, path, handler, options)
            return handler

        return add

    def _add(self, method: str, path: str, handler: Handler, options: Options) -> None:
        scope = options.get("scope")
        parameters = _Parameters.of(handler, scope)
        if parameters.is_authenticated != (scope is not None):
            raise TypeError(f"{method} {path}: a scope, or no authenticated user")
        status, is_idempotent = options.get("status", 200), options.get("idempotent", False)
        if is_idempotent:
            has_secret = options.get("has_secret", False)
            endpoint = _idempotent_endpoint(handler, parameters, status, has_secret=has_secret)
        elif has_pages(_response_shape(handler)):
            endpoint = _list_endpoint(handler, parameters)
        else:
            endpoint = _endpoint(handler, parameters, status)
        summary, _, description = inspect.cleandoc(handler.__doc__ or "").partition("\n")
        errors = {
            400,
            *options.get("errors", ()),
            *((401, 403, 429) if parameters.is_authenticated else ()),
        }
        self.router.add_api_route(
            path,
            endpoint,
            methods=[method],
            status_code=status,
            response_model=None,
            response_class=options.get("response_class", JSONResponse),
            description=description.strip(),
            openapi_extra=document_operation(
                options,
                method,
                shape=options.get("accepts", parameters.body),
                response=options.get("returns", _response_shape(handler)),
                errors=errors,
            ),
            summary=options.get("summary", summary.rstrip(".")),
            operation_id=options["id"],
            deprecated="alias_of" in options or None,
        )
        route = self.router.routes[-1]
        if isinstance(route, LimitedRoute):
            route.body_size = _body_size(options)
        if options.get("has_file", False):
            self.router.add_api_route(
                path, endpoint, methods=["HEAD"], response_model=None, include_in_schema=False
            )


class _Parameters(NamedTuple):
    """A handler's parameters as FastAPI reads them."""

    for_fastapi: list[inspect.Parameter]
    body: Any
    request_id: str | None
    is_authenticated: bool

    @classmethod
    def of(cls, handler: Callable[..., Any], scope: str | None) -> "_Parameters":
        found: list[inspect.Parameter] = []
        request_id, is_authenticated = None, False
        parameters = inspect.signature(handler).parameters.values()
        body = next(filter(None, map(_body_shape, parameters)), None)
        for each in parameters:
            shape, *markers = get_args(each.annotation) or (None,)
            annotation = each.annotation
            if any(isinstance(marker, _RequestIdMarker) for marker in markers):
                request_id = each.name
                continue
            for marker in markers:
                if isinstance(marker, JsonBody):
                    read_body = json_body(shape, or_query=marker.or_query)
                    annotation = Annotated[shape, Depends(read_body)]
                check = getattr(marker, "dependency", None)
                if isinstance(check, ScopedSecurity):
                    is_authenticated = True
                    names_call = "call_id" in getattr(body, "__struct_fields__", ())
                    check_scope = check.requiring(scope or "", names_call=names_call)
                    annotation = Annotated[shape, Depends(check_scope)]
            keyword = inspect.Parameter.KEYWORD_ONLY
            found.append(each.replace(annotation=annotation, kind=keyword))
        return cls(found, body, request_id, is_authenticated)


def _body_size(options: Options) -> BodySize | None:
    if "body_size" in options or "scope" not in options:
        return options.get("body_size")
    return body_limit.of_file if "form" in options else body_limit.of_request


def _body_shape(parameter: inspect.Parameter) -> Any:
    """Return the shape of the JSON body, if that is this parameter."""
    shape, *markers = get_args(parameter.annotation) or (None,)
    return shape if any(isinstance(each, JsonBody) for each in markers) else None


def _endpoint(
    handler: Callable[..., Awaitable[Any]], parameters: _Parameters, status: int
) -> Callable[..., Awaitable[Response]]:
    @functools.wraps(handler)
    async def endpoint(*, http_request: Request, **arguments: Any) -> Response:
        result = await handler(**arguments)
        if http_request.method == "HEAD" and isinstance(result, StreamingResponse):
            result.body_iterator = no_body()
        return result if isinstance(result, Response) else json_response(result, status)

    return _with_signature(endpoint, parameters.for_fastapi)


def _list_endpoint(
    handler: Callable[..., Awaitable[Any]], parameters: _Parameters
) -> Callable[..., Awaitable[Response]]:
    @functools.wraps(handler)
    async def endpoint(*, http_request: Request, **arguments: Any) -> Response:
        page = await handler(**arguments)
        response = json_response(page)
        if (link := link_to_next(http_request.url, page)) is not None:
            response.headers["Link"] = link
        return response

    return _with_signature(endpoint, parameters.for_fastapi)


def _idempotent_endpoint(
    handler: Callable[..., Awaitable[Any]],
    parameters: _Parameters,
    status: int,
    *,
    has_secret: bool,
) -> Callable[..., Awaitable[Response]]:
    @functools.wraps(handler)
    async def endpoint(
        *, http_request: Request, idempotency_key: str | None, **arguments: Any
    ) -> Response:
        async def run(request_id: str | None) -> bytes:
            given = {} if parameters.request_id is None else {parameters.request_id: request_id}
            result = await handler(**arguments, **given)
            if isinstance(result, Response):
                return _with_etag(result)
            return result if isinstance(result, bytes) else msgspec.json.encode(result)

        if idempotency_key is None:
            return _response(await run(None), status)
        form = next((each for each in arguments.values() if isinstance(each, Form)), None)
        url, state = http_request.url, http_request.state
        request = IdempotentRequest(
            state.account_id,
            state.agent_id,
            idempotency_key,
            f"{url.path}?{url.query}" if url.query else url.path,
            await (form.digest() if form else http_request.body()),
            state.key_id if has_secret else "",
        )
        idempotency = http_request.state.services.idempotency
        return _response(await idempotency.once(request, run), status)

    key = _parameter("idempotency_key", IdempotencyKey, default=None)
    return _with_signature(endpoint, [*parameters.for_fastapi, key])


async def no_body() -> AsyncIterator[bytes]:
    """Return what a response to HEAD has instead of its content."""
    return
    yield


async def _checked(request: Request) -> Request:
    """Return the request; raises an error for each parameter of its query that is repeated."""
    counts = Counter(name for name, _ in request.query_params.multi_items())
    repeated = (name for name, count in counts.items() if count > 1)
    raise_errors([BadInput(name, "given more than once") for name in repeated][:MAX_ERRORS])
    return request


class _Tagged(Struct, frozen=True, tag="tagged"):
    """A response with its ETag, as it is stored."""

    etag: str
    body: msgspec.Raw


def _with_etag(response: Response) -> bytes:
    body = msgspec.Raw(bytes(response.body))
    return msgspec.json.encode(_Tagged(response.headers["ETag"], body))


def _response(stored: bytes, status: int) -> Response:
    """Return a response that was stored with its ETag or without."""
    if not stored.startswith(_TAGGED):
        return json_response(stored, status)
    found = msgspec.json.decode(stored, type=_Tagged)
    response = json_response(bytes(found.body), status)
    response.headers["ETag"] = found.etag
    return response


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, annotation=annotation, default=default)


def _with_signature(
    endpoint: Callable[..., Awaitable[Response]], parameters: list[inspect.Parameter]
) -> Callable[..., Awaitable[Response]]:
    found = [*parameters, _parameter("http_request", Annotated[Request, Depends(_checked)])]
    signature = inspect.Signature(found, return_annotation=Response)
    endpoint.__signature__ = signature  # type: ignore[attr-defined]  # what FastAPI reads
    return endpoint


def _response_shape(handler: Callable[..., Any]) -> Any:
    """Return the shape of a handler's response; None for bytes and for whole responses."""
    shape = get_type_hints(handler).get("return")
    is_opaque = isinstance(shape, type) and issubclass(shape, bytes | Response)
    return None if is_opaque else shape
