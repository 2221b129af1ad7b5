"""`/srmain/voice/numbers`: the numbers of an account, and what calls to them run."""

from typing import Annotated

from fastapi import Depends, Path, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import Page, paging
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service
from api.routing.number_schemas import NumberPage, NumberView, RouteDocument, route_body
from api.routing.number_service import NumberRoutes

routes = Routes("Numbers")
BASE = "/srmain/voice/numbers"
ROUTE = f"{BASE}/{{number}}/route"
Numbers = Annotated[NumberRoutes, service("routing.numbers")]
Number = Annotated[str, Path(max_length=64, description="With its country, such as `+4721930000`.")]
PageQuery = Annotated[Page, Depends(paging(100))]
EXAMPLE = {
    "flowId": "support",
    "fallback": {"type": "say", "data": {"text": "Please call again later."}},
    "customData": {"line": "support"},
    "recordCall": True,
}


@routes.get(BASE, id="numbers.list", scope="routes:read")
async def list_numbers(user: AuthenticatedUser, page: PageQuery, numbers: Numbers) -> NumberPage:
    """List the account's numbers with their routes, in ascending order."""
    return await numbers.list(user.account_id, page)


@routes.get(f"{BASE}/{{number}}", id="numbers.get", scope="routes:read", errors=(404,))
async def get_number(user: AuthenticatedUser, number: Number, numbers: Numbers) -> NumberView:
    """Return a number with its route."""
    return await numbers.get(user.account_id, number)


@routes.get(
    ROUTE,
    id="numbers.route",
    scope="routes:read",
    returns=RouteDocument,
    errors=(404,),
    has_etag=True,
)
async def get_route(user: AuthenticatedUser, number: Number, numbers: Numbers) -> Response:
    """Return what calls to a number run, as it was put."""
    found = await numbers.get_route(user.account_id, number)
    return tagged_response(route_body(found), found.version)


@routes.put(
    ROUTE,
    id="numbers.setRoute",
    scope="routes:write",
    returns=RouteDocument,
    errors=(404, 412, 503),
    has_etag=True,
    example=EXAMPLE,
)
async def put_route(
    user: AuthenticatedUser,
    number: Number,
    numbers: Numbers,
    body: Body[RouteDocument],
    condition: IfMatch,
) -> Response:
    """Set what calls to a number run, from the next call on.

    A flow that the account does not have is 404 with the code `unknown_flow`.
    """
    found = await numbers.put(user.account_id, number, body, condition)
    return tagged_response(route_body(found), found.version)


@routes.delete(ROUTE, id="numbers.deleteRoute", scope="routes:write", errors=(404, 412), status=204)
async def delete_route(
    user: AuthenticatedUser, number: Number, numbers: Numbers, condition: IfMatch
) -> Response:
    """Delete a number's route: calls to it are rejected."""
    await numbers.delete(user.account_id, number, condition)
    return Response(status_code=204)
