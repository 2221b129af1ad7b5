"""`/srmain/voice/flows`: flows, their versions, and which of them calls run."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import Page, paging
from api.http.preconditions import IfMatch, tagged_response
from api.http.routes import Body, Routes
from api.http.services import service
from api.routing.flow_diff import FlowDiff
from api.routing.flow_schemas import (
    FlowPage,
    FlowSummary,
    FlowVersionDocument,
    FlowVersionList,
    PublishedFlow,
    PublishFlow,
)
from api.routing.flow_service import FlowService
from wire.flow import FlowDocument

routes = Routes("Flows")
BASE = "/srmain/voice/flows"
ONE = f"{BASE}/{{flowId}}"
MAX_NUMBER = 2**31 - 1
Flows = Annotated[FlowService, service("routing.flows")]
FlowId = Annotated[str, Path(alias="flowId", max_length=64)]
Number = Annotated[int, Path(ge=1, le=MAX_NUMBER)]
PageQuery = Annotated[Page, Depends(paging(100))]
VersionQuery = Annotated[int, Query(ge=1, le=MAX_NUMBER)]
IsPublished = Annotated[
    bool, Query(description="`false` keeps the new version as a draft that no call runs.")
]
EXAMPLE = {
    "name": "Support",
    "start": "menu",
    "nodes": {
        "menu": {
            "type": "menu",
            "data": {"text": "Press one for an agent."},
            "branches": {"1": "agent"},
            "noInput": "bye",
            "invalid": "bye",
        },
        "agent": {"type": "dial", "data": {"number": "agent:1001"}, "next": "bye"},
        "bye": {"type": "hangup"},
    },
}


@routes.get(BASE, id="flows.list", scope="routes:read")
async def list_flows(user: AuthenticatedUser, page: PageQuery, flows: Flows) -> FlowPage:
    """List the account's flows, ordered by id."""
    return await flows.list(user.account_id, page)


@routes.get(
    ONE, id="flows.get", scope="routes:read", returns=PublishedFlow, errors=(404,), has_etag=True
)
async def get_flow(flow_id: FlowId, user: AuthenticatedUser, flows: Flows) -> Response:
    """Return the published version of a flow; the latest one if none is published."""
    return tagged_response(*await flows.get(user.account_id, flow_id))


@routes.put(
    ONE,
    id="flows.put",
    scope="routes:write",
    accepts=FlowDocument,
    returns=FlowSummary,
    errors=(404, 409, 412, 413, 503),
    has_etag=True,
    example=EXAMPLE,
)
async def put_flow(  # noqa: PLR0913, PLR0917 - the parts of the request
    flow_id: FlowId,
    user: AuthenticatedUser,
    flows: Flows,
    request: Request,
    condition: IfMatch,
    publish: IsPublished = True,
) -> Response:
    """Store a new version of a flow, which new calls run unless `publish` is false.

    The body is the flow's document, a graph as shown or a tree of actions; an invalid one is
    rejected with all its errors. Calls stay on the version that they run.
    """
    body = await request.body()
    found = await flows.put(user.account_id, flow_id, body, condition, publish=publish)
    return tagged_response(*found)


@routes.delete(ONE, id="flows.delete", scope="routes:write", errors=(404, 412), status=204)
async def delete_flow(
    flow_id: FlowId, user: AuthenticatedUser, flows: Flows, condition: IfMatch
) -> Response:
    """Delete a flow; calls that run it continue."""
    await flows.delete(user.account_id, flow_id, condition)
    return Response(status_code=204)


@routes.post(
    f"{ONE}/check",
    id="flows.check",
    scope="routes:read",
    accepts=FlowDocument,
    errors=(404, 413, 503),
    status=204,
    example=EXAMPLE,
)
async def check_flow(
    flow_id: FlowId, user: AuthenticatedUser, flows: Flows, request: Request
) -> Response:
    """Check a flow without storing it; an invalid one is rejected with all its errors."""
    await flows.check(user.account_id, flow_id, await request.body())
    return Response(status_code=204)


@routes.get(f"{ONE}/versions", id="flows.versions", scope="routes:read", errors=(404,))
async def list_versions(flow_id: FlowId, user: AuthenticatedUser, flows: Flows) -> FlowVersionList:
    """List the kept versions of a flow, newest first."""
    return await flows.versions(user.account_id, flow_id)


@routes.get(
    f"{ONE}/versions/{{number}}",
    id="flows.version",
    scope="routes:read",
    returns=PublishedFlow,
    errors=(404,),
)
async def get_version(
    flow_id: FlowId, number: Number, user: AuthenticatedUser, flows: Flows
) -> FlowVersionDocument:
    """Return a version of a flow."""
    return await flows.version(user.account_id, flow_id, number)


@routes.get(f"{ONE}/diff", id="flows.diff", scope="routes:read", errors=(404,))
async def diff_versions(
    flow_id: FlowId,
    user: AuthenticatedUser,
    flows: Flows,
    before: Annotated[VersionQuery, Query(alias="from", description="The version before.")],
    after: Annotated[VersionQuery, Query(alias="to", description="The version after.")],
) -> FlowDiff:
    """Return what differs between two versions, field by field."""
    return await flows.diff(user.account_id, flow_id, before, after)


@routes.post(
    f"{ONE}/publish",
    id="flows.publish",
    scope="routes:write",
    errors=(404, 412, 503),
    example={"number": 3},
    idempotent=True,
)
async def publish_version(
    flow_id: FlowId,
    user: AuthenticatedUser,
    flows: Flows,
    body: Body[PublishFlow],
    condition: IfMatch,
) -> FlowSummary:
    """Let new calls run a version; an earlier one rolls the flow back.

    The version is checked again: what it uses may have been deleted meanwhile.
    """
    return await flows.publish(user.account_id, flow_id, body.number, condition)
