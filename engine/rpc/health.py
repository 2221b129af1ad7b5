"""Health endpoints: whether the engine runs, and whether it can take calls."""

from collections.abc import Sequence

import structlog
from aiohttp import web
from msgspec import Struct

from engine.rpc.json_body import json_response
from engine.rpc.peers.client import ShardDirectory
from engine.runtime.call_service import CallService
from engine.store.errors import StoreDown
from engine.store.store import Store

log = structlog.get_logger()
MAX_CLOCK_OFFSET_S = 2


class Readiness(Struct, frozen=True):
    """Whether an engine can take calls, and what is wrong."""

    is_ready: bool
    faults: tuple[str, ...]


def health_routes(
    service: CallService, store: Store, shard_directory: ShardDirectory
) -> list[web.RouteDef]:
    """Return the routes of /healthz and /readyz; they need no token and show no call data."""

    async def alive(_request: web.Request) -> web.Response:
        return json_response({"status": "ok"})

    async def ready(_request: web.Request) -> web.Response:
        # Nothing is judged before the store has answered: shards may be taken meanwhile.
        store_errors = await _store_errors(store)
        found = readiness(service, shard_directory, store_errors)
        body = {"ready": found.is_ready, "faults": found.faults}
        return json_response(body, 200 if found.is_ready else 503)

    return [web.get("/healthz", alive), web.get("/readyz", ready)]


def readiness(
    service: CallService, shard_directory: ShardDirectory, store_errors: Sequence[str] = ()
) -> Readiness:
    """Return whether an engine can take calls, and what is wrong."""
    down = store_errors or _failing_shards(service) or _unowned(shard_directory)
    disconnected = [
        f"node {node.name} is disconnected" for node in service.nodes.values() if node.is_paused
    ]
    is_ready = len(disconnected) < len(service.nodes) and not down
    return Readiness(is_ready, (*disconnected, *down, *_clock_errors(service)))


def _clock_errors(service: CallService) -> list[str]:
    """Report a clock that differs from the store's; the engine still serves calls."""
    offset_s = round(service.clock_offset_ms / 1000)
    if abs(offset_s) <= MAX_CLOCK_OFFSET_S:
        return []
    side = "ahead of" if offset_s > 0 else "behind"
    return [f"clock: {abs(offset_s)} s {side} the store's"]


def _failing_shards(service: CallService) -> list[str]:
    shards = (shard for node in service.nodes.values() for shard in node.shards.values())
    failing = sorted(shard.context.id for shard in shards if not shard.can_store)
    return [f"store: commits fail in shards {', '.join(map(str, failing))}"] if failing else []


def _unowned(shard_directory: ShardDirectory) -> list[str]:
    if shard_directory.is_leaving:
        return ["this engine is shutting down"]
    return [] if shard_directory.is_settled else ["shards: some have no owner yet"]


async def _store_errors(store: Store) -> list[str]:
    try:
        await store.ping()
    except StoreDown as error:
        log.warning("store not ready", error=str(error))
        return [f"store: {error.detail}"]
    return []
