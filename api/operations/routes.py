"""`/srmain/operations`: the whole installation, for keys with the scope `operations`."""

from typing import Annotated

from fastapi import Depends, Path, Query

from api.auth.dependencies import AuthenticatedUser
from api.http.paging import MAX_LIMIT, Page, paging
from api.http.routes import Body, Routes
from api.http.services import service
from api.operations.alerts import AlertSource
from api.operations.schemas import (
    AlertList,
    AudioCacheList,
    DoctorResults,
    EngineList,
    LiveCallList,
    NodeList,
    NodeView,
    ShardPage,
    StoreState,
)
from api.operations.service import OperationsService
from wire.rpc import PutSlots, Slots
from wire.views import EndedCalls, Replay

routes = Routes("Operations")
BASE = "/srmain/operations"
Operations = Annotated[OperationsService, service("operations")]
Alerts = Annotated[AlertSource, service("alerts")]
NodeName = Annotated[str, Path(alias="node", max_length=256)]
CallId = Annotated[str, Path(alias="callId", max_length=256)]
OfAccount = Annotated[str, Query(max_length=64, description="Only calls of this account.")]
OnNode = Annotated[
    str, Query(alias="node", max_length=256, description="Only calls on this PBX node.")
]
Latest = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Number of the latest calls.")]
ShardRows = Annotated[Page, Depends(paging(100))]


@routes.get(f"{BASE}/nodes", id="operations.nodes", scope="operations", errors=(503,))
async def list_nodes(user: AuthenticatedUser, operations: Operations) -> NodeList:
    """List the PBX nodes."""
    del user
    return await operations.nodes()


@routes.post(
    f"{BASE}/nodes/{{node}}/drain",
    id="operations.drain",
    scope="operations",
    errors=(404, 409, 503),
    idempotent=True,
)
async def drain_node(node: NodeName, user: AuthenticatedUser, operations: Operations) -> NodeView:
    """Stop new calls to a PBX node; live calls continue.

    A node that is drained already stays so.
    """
    del user
    return await operations.set_drained(node, is_drained=True)


@routes.post(
    f"{BASE}/nodes/{{node}}/undrain",
    id="operations.undrain",
    scope="operations",
    errors=(404, 409, 503),
    idempotent=True,
)
async def undrain_node(node: NodeName, user: AuthenticatedUser, operations: Operations) -> NodeView:
    """Allow new calls to a PBX node again."""
    del user
    return await operations.set_drained(node, is_drained=False)


@routes.get(f"{BASE}/slots", id="operations.slots", scope="operations", errors=(503,))
async def get_slots(user: AuthenticatedUser, operations: Operations) -> Slots:
    """Show the number of slots per PBX node."""
    del user
    return await operations.slots()


@routes.put(
    f"{BASE}/slots",
    id="operations.setSlots",
    scope="operations",
    errors=(409, 503),
    example={"slots": 8},
)
async def put_slots(user: AuthenticatedUser, body: Body[PutSlots], operations: Operations) -> Slots:
    """Change the number of slots per PBX node while calls are live.

    Set `SWITCHROOM_SLOTS` to it before an engine is started again.
    """
    del user
    return await operations.set_slots(body)


@routes.get(f"{BASE}/calls", id="operations.calls", scope="operations", errors=(503,))
async def list_calls(
    user: AuthenticatedUser, operations: Operations, account: OfAccount = "", node: OnNode = ""
) -> LiveCallList:
    """List the live calls of all accounts, oldest first.

    It needs the scope `calls`, too.
    """
    user.require("calls")
    return await operations.calls(account, node)


@routes.get(f"{BASE}/calls/ended", id="operations.endedCalls", scope="operations", errors=(503,))
async def list_ended_calls(
    user: AuthenticatedUser, operations: Operations, limit: Latest = 100
) -> EndedCalls:
    """List the ids of the latest ended calls of all accounts, latest first.

    It needs the scope `calls`, too.
    """
    user.require("calls")
    return await operations.ended_calls(limit)


@routes.get(
    f"{BASE}/calls/{{callId}}/replay",
    id="operations.replay",
    scope="operations",
    errors=(404, 409, 503),
)
async def replay_call(call_id: CallId, user: AuthenticatedUser, operations: Operations) -> Replay:
    """Compare a call of any account with what the engine would do now.

    It needs the scope `calls`, too.
    """
    user.require("calls")
    return await operations.replay(call_id)


@routes.get(f"{BASE}/engines", id="operations.engines", scope="operations", errors=(503,))
async def list_engines(user: AuthenticatedUser, operations: Operations) -> EngineList:
    """List the engines with their shards, and what is wrong with each."""
    del user
    return await operations.engines()


@routes.get(f"{BASE}/shards", id="operations.shards", scope="operations", errors=(503,))
async def list_shards(
    user: AuthenticatedUser, page: ShardRows, operations: Operations
) -> ShardPage:
    """List the shards, those without an engine first."""
    del user
    return await operations.shards(page)


@routes.get(f"{BASE}/store", id="operations.store", scope="operations", errors=(503,))
async def get_store(user: AuthenticatedUser, operations: Operations) -> StoreState:
    """Show the state of the store, and what waits for it."""
    del user
    return await operations.store()


@routes.get(f"{BASE}/media", id="operations.media", scope="operations", errors=(503,))
async def list_audio_caches(user: AuthenticatedUser, operations: Operations) -> AudioCacheList:
    """List the audio caches of the engines."""
    del user
    return await operations.audio_caches()


@routes.get(f"{BASE}/alerts", id="operations.alerts", scope="operations")
async def list_alerts(user: AuthenticatedUser, alerts: Alerts) -> AlertList:
    """List the alerts that fire, from the Alertmanager or Prometheus of `SWITCHROOM_ALERTS_URL`."""
    del user
    return await alerts.firing()


@routes.get(f"{BASE}/doctor", id="operations.doctor", scope="operations", errors=(503,))
async def get_doctor_results(user: AuthenticatedUser, operations: Operations) -> DoctorResults:
    """Show the results of the checks of `switchroom doctor`, which an engine runs.

    They run when the last results are older than a minute, one run at a time. A run that takes
    longer than five seconds goes on: `isRunning` is true, and the results are those before it.
    """
    del user
    return await operations.doctor()
