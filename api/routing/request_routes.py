"""`/srmain/voice/requests`: API requests, which flows and status callbacks send."""

from typing import Annotated

from fastapi import Depends, Path, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import Page, paging
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service
from api.routing.request_schemas import ApiRequestPage, request_view
from api.routing.request_service import ApiRequestService, decode_request
from wire.request import ApiRequest, ApiRequestView

routes = Routes("API requests")
BASE = "/srmain/voice/requests"
ONE = f"{BASE}/{{id}}"
Requests = Annotated[ApiRequestService, service("routing.requests")]
RequestId = Annotated[
    str, Path(alias="id", max_length=64, description="24 digits of 0-9 a-f, chosen by you.")
]
PageQuery = Annotated[Page, Depends(paging(100))]
EXAMPLE = {
    "name": "Who is calling?",
    "method": "POST",
    "url": "https://crm.example.com/people",
    "headers": {"Authorization": "Bearer {{secrets.token}}"},
    "json": {"phone": "{{call.from}}"},
    "answers": {"tier": "/person/tier"},
    "secrets": {"token": "put yours here"},
}


@routes.get(BASE, id="requests.list", scope="routes:read")
async def list_requests(
    user: AuthenticatedUser, page: PageQuery, requests: Requests
) -> ApiRequestPage:
    """List the account's API requests, ordered by id."""
    return await requests.list(user.account_id, page)


@routes.get(
    ONE,
    id="requests.get",
    scope="routes:read",
    returns=ApiRequestView,
    errors=(404,),
    has_etag=True,
)
async def get_request(
    request_id: RequestId, user: AuthenticatedUser, requests: Requests
) -> Response:
    """Return an API request; of its secrets, the names."""
    found = await requests.get(user.account_id, request_id)
    return tagged_response(request_view(found.id, decode_request(found)), found.version)


@routes.put(
    ONE,
    id="requests.put",
    scope="routes:write",
    returns=ApiRequestView,
    errors=(409, 412, 503),
    has_etag=True,
    example=EXAMPLE,
)
async def put_request(
    request_id: RequestId,
    user: AuthenticatedUser,
    requests: Requests,
    body: Body[ApiRequest],
    condition: IfMatch,
) -> Response:
    """Create or replace an API request.

    Secrets that are left out keep their values, and null removes one. They are never shown.
    """
    found = await requests.put(user.account_id, request_id, body, condition)
    return tagged_response(request_view(found.id, decode_request(found)), found.version)


@routes.delete(ONE, id="requests.delete", scope="routes:write", errors=(404, 412), status=204)
async def delete_request(
    request_id: RequestId, user: AuthenticatedUser, requests: Requests, condition: IfMatch
) -> Response:
    """Delete an API request; flows that send it take their failure branch."""
    await requests.delete(user.account_id, request_id, condition)
    return Response(status_code=204)
