"""Whether the engine lives, and whether it can take calls."""

from aiohttp import web

from engine.rpc.json_body import json_response
from engine.rpc.peers.client import SlotDirectory
from engine.runtime.service import CallService
from engine.store.errors import StoreDown
from engine.store.store import Store


def health_routes(switch: CallService, store: Store, owners: SlotDirectory) -> list[web.RouteDef]:
    """Answer /healthz and /readyz, without a token: they tell nothing of any call."""

    async def alive(_request: web.Request) -> web.Response:
        return json_response({"status": "ok"})

    async def ready(_request: web.Request) -> web.Response:
        away = [f"node {node.name} is away" for node in switch.nodes.values() if node.is_paused]
        down = await _store_faults(store) or _unstored(switch) or _unowned(owners)
        usable = len(away) < len(switch.nodes) and not down
        return json_response({"ready": usable, "faults": [*away, *down]}, 200 if usable else 503)

    return [web.get("/healthz", alive), web.get("/readyz", ready)]


def _unstored(switch: CallService) -> list[str]:
    desks = (desk for node in switch.nodes.values() for desk in node.shards.values())
    slots = sorted({desk.context.slot for desk in desks if not desk.can_store})
    return [f"store: no commit goes through in slots {slots}"] if slots else []


def _unowned(owners: SlotDirectory) -> list[str]:
    if owners.is_leaving:
        return ["this engine is leaving"]
    return [] if owners.is_settled else ["slots: some are nobody's yet"]


async def _store_faults(store: Store) -> list[str]:
    try:
        await store.ping()
    except StoreDown as error:
        return [f"store: {error}"]
    return []
