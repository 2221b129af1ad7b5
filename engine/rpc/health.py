"""Whether the engine lives, and whether it can take calls."""

from collections.abc import Iterator

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from engine.rpc.bodies import answer
from engine.rpc.hop import Owners
from engine.runtime.switch import Switch
from engine.store.errors import StoreDown
from engine.store.store import Store


class _Gauges(Collector):
    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    def collect(self) -> Iterator[Metric]:
        calls = GaugeMetricFamily("switchroom_calls", "Live calls", labels=["node"])
        up = GaugeMetricFamily("switchroom_node_up", "1 when events are heard", labels=["node"])
        for node in self._switch.nodes.values():
            calls.add_metric([node.name], node.live)
            up.add_metric([node.name], 0 if node.is_away else 1)
        yield calls
        yield up


def health_routes(switch: Switch, store: Store, owners: Owners) -> list[web.RouteDef]:
    """Answer /healthz, /readyz and /metrics, without a token: they tell nothing of any call."""
    registry = CollectorRegistry()
    registry.register(_Gauges(switch))

    async def alive(_request: web.Request) -> web.Response:
        return answer({"status": "ok"})

    async def ready(_request: web.Request) -> web.Response:
        away = [f"node {node.name} is away" for node in switch.nodes.values() if node.is_away]
        down = await _store_faults(store) or _unstored(switch) or _unowned(owners)
        usable = len(away) < len(switch.nodes) and not down
        return answer({"ready": usable, "faults": [*away, *down]}, 200 if usable else 503)

    async def metrics(_request: web.Request) -> web.Response:
        page = generate_latest(registry)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    return [
        web.get("/healthz", alive),
        web.get("/readyz", ready),
        web.get("/metrics", metrics),
    ]


def _unstored(switch: Switch) -> list[str]:
    desks = (desk for node in switch.nodes.values() for desk in node.desks.values())
    slots = sorted({desk.place.slot for desk in desks if not desk.can_store})
    return [f"store: no commit goes through in slots {slots}"] if slots else []


def _unowned(owners: Owners) -> list[str]:
    return [] if owners.is_settled else ["slots: some are nobody's yet"]


async def _store_faults(store: Store) -> list[str]:
    try:
        await store.ping()
    except StoreDown as error:
        return [f"store: {error}"]
    return []
