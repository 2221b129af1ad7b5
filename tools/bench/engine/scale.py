"""What an engine costs over engines, nodes and waiting calls: it should be its own calls only."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import mean, median

from msgspec import Struct
from msgspec.structs import replace

from tests.harness.until import until
from tools.bench.charts.line_chart import line_chart
from tools.bench.charts.svg import write_chart
from tools.bench.cpu import idle_shares
from tools.bench.engine.idle_memory import resident_bytes
from tools.bench.engine.loop_meter import longest_step_ms
from tools.bench.engine.scale_cluster import Layout, ScaleCluster, page, scale_cluster
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

CALLS, QUICK_CALLS = 2_000, 200  # of each engine
WINDOW_S, QUICK_WINDOW_S = 10.0, 3.0
SCRAPES = 20
LAYOUT_TIMEOUT_S = 300
WARM_UP_SHARE = 0.1  # of the calls: they fill caches and end again
MAIN = (6, 12)
OVER_ENGINES = ((1, 4), (3, 4), (6, 4))
OVER_NODES = ((3, 1), (3, 4), (3, 12))


class Cost(Struct, frozen=True):
    """An average engine of a layout; CPU in percent of a core."""

    calls: float
    idle: float
    waiting: float  # with its calls
    bytes_without_calls: float
    bytes_of_call: float
    stored_bytes_of_call: float  # with its events
    websockets: float
    store_connections: float
    stalls_ms: tuple[float, ...] = ()  # of the loop in each scrape of its metrics
    metrics_lines: int = 0

    @property
    def of_1000_calls(self) -> float:
        """The CPU of a thousand of its waiting calls."""
        return (self.waiting - self.idle) * 1000 / self.calls


Shape = tuple[int, int]  # engines and nodes
Costs = Mapping[Shape, Cost]


async def scale(setting: Setting) -> list[Figure]:
    """Run each layout with the same number of calls in each engine; draw the costs."""
    costs: dict[Shape, Cost] = {}
    for engines, nodes in dict.fromkeys((MAIN, *OVER_ENGINES, *OVER_NODES)):
        calls = (QUICK_CALLS if setting.quick else CALLS) * engines
        async with asyncio.timeout(LAYOUT_TIMEOUT_S):
            layout = Layout(engines, nodes, calls)
            folder = setting.folder / f"{engines}-{nodes}"
            async with scale_cluster(folder, layout) as running:
                costs[engines, nodes] = await _measure(running, layout, setting)
    _draw(costs, setting)
    return _figures(costs)


async def _measure(running: ScaleCluster, layout: Layout, setting: Setting) -> Cost:
    pids = {each.url: each.pid for each in running.engines}
    window_s = QUICK_WINDOW_S if setting.quick else WINDOW_S
    await running.hold(int(layout.calls * WARM_UP_SHARE))
    await asyncio.gather(*(node.hang_up_all() for node in running.nodes))
    await until(partial(_is_empty, running), timeout_s=60, every_s=0.5, what="no waiting call")
    idle, before = await _settled(pids, window_s), sum(map(resident_bytes, pids.values()))
    store_before = await running.store()
    counts = await running.hold(layout.calls)
    if not all(counts):
        raise RuntimeError(f"engines without a call: {counts}")
    waiting = await _settled(pids, window_s)
    grown, store = sum(map(resident_bytes, pids.values())) - before, await running.store()
    cost = Cost(
        calls=mean(counts),
        idle=idle,
        waiting=waiting,
        bytes_without_calls=before / layout.engines,
        bytes_of_call=grown / sum(counts),
        stored_bytes_of_call=(store.memory - store_before.memory) / sum(counts),
        websockets=mean(await running.websockets()),
        store_connections=store.connections / layout.engines,
    )
    is_main = (layout.engines, layout.nodes) == MAIN
    return await _with_scrapes(cost, running) if is_main else cost


async def _settled(pids: Mapping[str, int], window_s: float) -> float:
    """Return the CPU of an average engine, after what began before has ended."""
    await idle_shares(pids, window_s)
    return mean((await idle_shares(pids, window_s)).values()) * 100


async def _with_scrapes(cost: Cost, running: ScaleCluster) -> Cost:
    engine = running.engines[0]
    stalls = [await longest_step_ms(engine.port, page(engine, "/metrics")) for _ in range(SCRAPES)]
    lines = (await page(engine, "/metrics")).count(b"\n")
    return replace(cost, stalls_ms=tuple(stalls), metrics_lines=lines)


async def _is_empty(running: ScaleCluster) -> bool:
    return not any(await running.waiting())


def _draw(costs: Costs, setting: Setting) -> None:
    for name, layouts, label in (
        ("engines", OVER_ENGINES, lambda each: f"{each[0]} engines, {each[1]} nodes"),
        ("nodes", OVER_NODES, lambda each: f"{each[1]} nodes, {each[0]} engines"),
    ):
        calls = round(mean(costs[each].calls for each in layouts))
        series = {
            "without calls": [costs[each].idle for each in layouts],
            f"with {calls:,} waiting calls": [costs[each].waiting for each in layouts],
        }
        title = f"CPU of one engine over {name}, percent of a core"
        write_chart(
            setting.out / f"scale-{name}.svg", line_chart(title, list(map(label, layouts)), series)
        )


def _figures(costs: Costs) -> list[Figure]:
    cost, make = costs[MAIN], partial(figure, "scale")
    return [
        make("calls_of_engine", cost.calls, "calls"),
        make("idle_cpu", cost.idle, "% of a core"),
        make("waiting_cpu", cost.waiting, "% of a core"),
        make("cpu_of_1000_calls", cost.of_1000_calls, "% of a core"),
        make("memory_without_calls", cost.bytes_without_calls / 1024**2, "MiB"),
        make("memory_of_call", cost.bytes_of_call / 1024, "KiB/call"),
        make("stored_bytes_of_call", cost.stored_bytes_of_call, "B/call"),
        make("websockets", cost.websockets, "per engine"),
        make("store_connections", cost.store_connections, "per engine"),
        make("metrics_stall_p50", median(cost.stalls_ms), "ms"),
        make("metrics_stall_max", max(cost.stalls_ms), "ms"),
        make("metrics_lines", cost.metrics_lines, "lines"),
        *_over(costs, OVER_ENGINES, lambda each: f"{each[0]}_engines"),
        *_over(costs, OVER_NODES, lambda each: f"{each[1]}_nodes"),
    ]


def _over(costs: Costs, layouts: Sequence[Shape], label: Callable[[Shape], str]) -> list[Figure]:
    """Return the CPU of each layout; the baseline is the first one's."""
    read: Mapping[str, Callable[[Cost], float]] = {
        "idle_cpu": lambda cost: cost.idle,
        "waiting_cpu": lambda cost: cost.waiting,
    }
    return [
        figure(
            "scale",
            f"{name}_at_{label(layout)}",
            value(costs[layout]),
            "% of a core",
            value(costs[layouts[0]]),
        )
        for layout in layouts
        for name, value in read.items()
    ]
