"""Plans of shares: deterministic, within capacities, and without needless moves; also at scale."""

import random
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.runtime.cluster.share_plan import SHARD_WEIGHT, EngineState, SharePlan, plan_shares
from wire.shard import ShardId, parse_shard

NODES = tuple(f"pbx{number}" for number in range(50))
SLOTS, ENGINES, CALLS = 4, 20, 20_000
CAPACITY = 1_500
MAX_STEPS = 300  # until nothing moves any more
Engines = dict[str, EngineState]


def apply(
    engines: Mapping[str, EngineState], plan: SharePlan, loads: Mapping[ShardId, int]
) -> Engines:
    """Return the engines after a plan was carried out."""
    targets = {**plan.free, **plan.urgent, **plan.moves}
    kept = {
        name: {shard: calls for shard, calls in state.shards.items() if shard not in targets}
        for name, state in engines.items()
    }
    for shard, to in targets.items():
        kept[to][shard] = loads[shard]
    return {name: replace(state, shards=kept[name]) for name, state in engines.items()}


def settle(engines: Engines, loads: Mapping[ShardId, int]) -> Engines:
    """Carry out plans until none is left; no engine ever has more calls than it may have."""
    for _ in range(MAX_STEPS):
        owned = {shard for state in engines.values() for shard in state.shards}
        free = {shard: calls for shard, calls in loads.items() if shard not in owned}
        plan = plan_shares(engines, free, {})
        if not (plan.free or plan.urgent or plan.moves):
            return engines
        engines = apply(engines, plan, loads)
        assert all(calls_of(state) <= state.capacity for state in engines.values())
    raise AssertionError("shards move again and again")


def calls_of(state: EngineState) -> int:
    return sum(state.shards.values())


def load_of(state: EngineState) -> int:
    return calls_of(state) + SHARD_WEIGHT * len(state.shards)


def owners(engines: Engines) -> dict[ShardId, str]:
    """Return who has each shard; each has one owner."""
    found = [(shard, name) for name, state in engines.items() for shard in state.shards]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.fixture(scope="module")
def loads() -> dict[ShardId, int]:
    """Return 20,000 calls on 200 shards."""
    rng = random.Random(1)
    shards = [ShardId(node, slot) for node in NODES for slot in range(SLOTS)]
    counts = dict.fromkeys(shards, 0)
    for _ in range(CALLS):
        counts[rng.choice(shards)] += 1
    return counts


@pytest.fixture(scope="module")
def cluster(loads: dict[ShardId, int]) -> Engines:
    """Return 20 engines that have settled."""
    nodes = frozenset(NODES)
    empty = {f"engine{n:02}": EngineState(CAPACITY, nodes=nodes) for n in range(ENGINES)}
    return settle(empty, loads)


def test_all_engines_have_equal_loads(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """Every shard has an owner; loads differ little."""
    assert owners(cluster).keys() == loads.keys()
    counts = [load_of(state) for state in cluster.values()]
    assert max(counts) - min(counts) < 0.3 * sum(counts) / len(counts)


def test_a_dead_path_moves_only_its_shards(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """The shards of that node which the engine had; nothing else, also later."""
    before = owners(cluster)
    name, node = next((name, shard.node) for shard, name in before.items())
    cut = {**cluster, name: replace(cluster[name], missing=frozenset({node}))}
    after = owners(settle(cut, loads))
    moved = {shard for shard in before if after[shard] != before[shard]}
    assert moved == {each for each, by in before.items() if by == name and each.node == node}


def test_nineteen_engines_that_each_miss_a_different_node(
    cluster: Engines, loads: dict[ShardId, int]
) -> None:
    """Each gives up at most the shards of its node, and they keep all other calls."""
    before = owners(cluster)
    missed = dict(zip(sorted(cluster)[:19], NODES, strict=False))
    cut = {
        name: replace(state, missing=frozenset({missed[name]})) if name in missed else state
        for name, state in cluster.items()
    }
    after = owners(settle(cut, loads))
    for shard, name in before.items():
        if after[shard] != name:
            assert missed.get(name) == shard.node
        else:
            assert missed.get(name) != shard.node


def test_an_engine_dies(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """Its shards are spread over the others, which keep theirs."""
    before = owners(cluster)
    left = {name: state for name, state in cluster.items() if name != "engine07"}
    after = owners(settle(left, loads))
    assert after.keys() == loads.keys()
    assert all(after[shard] == name for shard, name in before.items() if name != "engine07")
    gained = [len(state.shards) for state in settle(left, loads).values()]
    assert max(gained) <= 12


def test_shards_wait_for_room(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """When half of the engines die, the others take what they may have, and no more."""
    left = {name: cluster[name] for name in sorted(cluster)[:10]}
    settled = settle(left, loads)
    assert all(calls_of(state) <= CAPACITY for state in settled.values())
    owned = owners(settled)
    waiting = {shard: calls for shard, calls in loads.items() if shard not in owned}
    assert waiting
    assert plan_shares(settled, waiting, {}).waiting == waiting.keys()
    assert sum(loads[shard] for shard in owned) > 0.9 * 10 * CAPACITY


def test_engines_that_join_get_their_share(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """Four more get about as much as the others."""
    nodes = frozenset(NODES)
    more = {f"new{number}": EngineState(CAPACITY, nodes=nodes) for number in range(4)}
    counts = [load_of(state) for state in settle({**cluster, **more}, loads).values()]
    assert min(counts) > 0.65 * sum(counts) / len(counts)


def test_a_plan_is_quick(cluster: Engines, loads: dict[ShardId, int]) -> None:
    """Every engine plans with each heartbeat, also when one engine has all shards."""
    nodes = frozenset(NODES)
    worst = {name: EngineState(CALLS, nodes=nodes) for name in cluster}
    worst["engine00"] = EngineState(CALLS, loads, nodes)
    began_s = time.process_time()
    for engines in (cluster, worst):
        plan_shares(engines, {}, {})
    assert time.process_time() - began_s < 0.1  # of a heartbeat's half second


COUNTS = st.integers(0, 200)
STATES = st.builds(
    EngineState,
    capacity=st.integers(100, 600),
    nodes=st.frozensets(st.sampled_from(NODES[:3])),
    missing=st.frozensets(st.sampled_from(NODES[:3]), max_size=2),
    format=st.integers(1, 2),
)


@given(
    st.dictionaries(st.sampled_from("abcd"), STATES, min_size=1),
    st.dictionaries(st.builds(ShardId, st.sampled_from(NODES[:3]), st.integers(0, 3)), COUNTS),
    st.randoms(use_true_random=False),
)
def test_any_plan(engines: Engines, loads: dict[ShardId, int], rng: random.Random) -> None:
    """Plans end, exceed no capacity, and do not depend on the order of engines."""
    held: dict[str, dict[ShardId, int]] = {name: {} for name in engines}
    for shard, calls in loads.items():
        if (name := rng.choice([*engines, ""])) and sum(held[name].values()) + calls <= 100:
            held[name][shard] = calls
    engines = {name: replace(state, shards=held[name]) for name, state in engines.items()}
    owned = {shard for state in engines.values() for shard in state.shards}
    free = {shard: calls for shard, calls in loads.items() if shard not in owned}
    plan = plan_shares(engines, free, {})
    assert plan == plan_shares(dict(reversed(engines.items())), free, {})
    assert plan.free.keys() | plan.waiting == free.keys()
    roomy = {name: replace(state, capacity=10_000) for name, state in engines.items()}
    assert owners(settle(roomy, loads)).keys() == loads.keys()


def test_calls_of_a_later_version() -> None:
    """Their shard goes to an engine that can read them; without one it stays."""
    shard, nodes = ShardId("pbx1", 0), frozenset({"pbx1"})
    old = EngineState(9, {shard: 3}, nodes, format=1)
    assert plan_shares(
        {"old": old, "new": EngineState(9, nodes=nodes, format=1)}, {}, {shard: 1}
    ) == (SharePlan())
    later = EngineState(9, nodes=nodes, format=2)
    assert plan_shares({"old": old, "new": later}, {}, {shard: 1}).urgent == {shard: "new"}


def test_no_engine_gets_calls_that_it_could_not_read() -> None:
    """An engine of an earlier version gets no shards of a later one."""
    nodes = frozenset({"pbx1"})
    held = {ShardId("pbx1", slot): 0 for slot in range(8)}
    later = EngineState(9, held, nodes, format=2)
    assert not plan_shares({"old": EngineState(9, nodes=nodes), "new": later}, {}, {}).moves


def test_a_large_shard_does_not_wait_for_ever() -> None:
    """An engine without calls takes it, although it has more than the engine may have."""
    shard = ShardId("pbx1", 0)
    idle = EngineState(10, nodes=frozenset({"pbx1"}))
    assert plan_shares({"a": idle}, {shard: 99}, {}).free == {shard: "a"}


def test_a_node_that_no_engine_knows() -> None:
    """Some engine takes its shards, so that their calls end."""
    shard = ShardId("gone", 0)
    idle = EngineState(10, nodes=frozenset({"pbx1"}))
    assert plan_shares({"a": idle}, {shard: 1}, {}).free == {shard: "a"}


@pytest.mark.parametrize(
    ("to", "taker"), [("busy", "busy"), ("away", "idle"), ("full", "idle"), ("dead", "idle")]
)
def test_a_shard_goes_to_the_engine_it_was_released_for(to: str, taker: str) -> None:
    """If that engine lives, reaches the node and has room; else to the one with the lowest load."""
    shard, nodes = ShardId("pbx1", 0), frozenset({"pbx1", "pbx2"})
    busy = {ShardId("pbx2", 1): 50}
    engines = {
        "away": EngineState(100, {}, nodes, missing=frozenset({"pbx1"})),
        "busy": EngineState(100, busy, nodes),
        "full": EngineState(100, {ShardId("pbx2", 2): 99}, nodes),
        "idle": EngineState(100, {ShardId("pbx2", 3): 1}, nodes),
    }
    assert plan_shares(engines, {shard: 10}, {}, {shard: to}).free == {shard: taker}


def test_a_shard_that_two_engines_claim() -> None:
    """One of them has lost it without noticing: it counts for one of them, and moves once."""
    both = {ShardId("pbx1", slot): 40 for slot in range(4)}
    engines = {
        name: EngineState(1_000, shards, frozenset({"pbx1"}))
        for name, shards in (("a", both), ("b", both), ("c", {}))
    }
    plan = plan_shares(engines, {}, {})
    assert set(plan.moves.values()) <= {"a", "c"}
    assert len(plan.moves) == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_an_engine_has_shards_of_few_nodes(at_once: bool) -> None:
    """Two thirds of an engine's shards share a node with others, however engines started."""
    nodes = NODES[:12]
    loads = {ShardId(node, slot): 0 for node in nodes for slot in range(SLOTS)}
    engines: Engines = {}
    for number in range(6):
        engines[f"engine{number}"] = EngineState(CAPACITY, nodes=frozenset(nodes))
        if not at_once:
            engines = settle(engines, loads)
    settled = settle(engines, loads)
    assert sum(len({shard.node for shard in each.shards}) for each in settled.values()) <= 20
    assert all(len(each.shards) == 8 for each in settled.values()) or not at_once


def test_the_shard_moves_that_makes_loads_most_equal() -> None:
    """A larger one would make the other engine the busier one."""
    nodes = frozenset({"pbx1"})
    calls = {ShardId("pbx1", slot): calls for slot, calls in enumerate((130, 100, 130))}
    engines = {
        "a": EngineState(1_000, calls, nodes),
        "b": EngineState(1_000, {ShardId("pbx1", 3): 170}, nodes),
    }
    assert plan_shares(engines, {}, {}).moves == {ShardId("pbx1", 1): "b"}


def state(capacity: int = 1_000, missing: str = "", **calls: int) -> EngineState:
    """Return an engine that knows two nodes; `a1` are the calls of slot 1 of node a."""
    shards = {parse_shard(f"{name[0]}/{name[1:]}"): each for name, each in calls.items()}
    return EngineState(capacity, shards, frozenset("ab"), frozenset(missing))


@pytest.mark.parametrize(
    ("engines", "free", "plan"),
    [
        ({}, {"a1": 1}, "waits a1"),
        ({"x": state(100), "y": state(100)}, {"a1": 50, "a2": 90, "a3": 50}, "a1 y, a2 x, a3 y"),
        ({"x": state(100), "y": state(100)}, {"a2": 60, "a1": 60}, "a1 x, a2 y"),
        ({"x": state(100)}, {"a1": 50, "a2": 60}, "a2 x, waits a1"),
        ({"x": state(5, a9=10)}, {"a1": 0}, "a1 x"),
        ({"x": state(), "y": state()}, dict.fromkeys(("a1", "a2", "a3"), 0), "a1 x, a2 y, a3 x"),
        ({"x": state(), "y": state()}, dict.fromkeys(("a1", "a2", "b1", "b2"), 0),
         "a1 x, a2 x, b1 y, b2 y"),
        ({"x": state(a9=10), "y": state(b9=0)}, {"a1": 5, "a2": 5, "a3": 5}, "a1 x, a2 y, a3 y"),
        ({"x": state(a9=10), "y": state(b9=0)}, {"a1": 0, "a2": 0, "a3": 0}, "a1 x, a2 y, a3 y"),
        ({"x": state(a9=11), "y": state(b9=0)}, {"a1": 0, "a2": 0}, "a1 y, a2 y"),
        ({"x": state(a9=10), "y": state(b9=0)}, {"a1": 30}, "a1 y, moves b9 x"),
        ({"x": state(100, "b", b1=80), "y": state()}, {"a1": 90}, "a1 x, urgent b1 y"),
        ({"y": state(100, "b", b1=80), "x": state()}, {"a1": 10}, "a1 y, urgent b1 x"),
        ({"x": state(a1=0), "y": state()}, {}, ""),
        ({"x": state(a1=0, a2=0), "y": state()}, {}, "moves a1 y"),
        ({"x": state(a1=20, a2=0, a3=0), "y": state(a4=0)}, {}, "moves a1 y, moves a4 x"),
        ({"x": state(a1=20, a2=0, a3=0), "y": state(a4=1)}, {}, "moves a2 y"),
        ({"x": state(a1=210, a2=0), "y": state(a3=180)}, {}, ""),
        ({"x": state(a1=0, a2=0), "y": state(a3=0, a4=0, a5=0), "z": state()}, {}, "moves a3 z"),
        ({"x": state(a1=0, a2=0), "y": state(1, "b"), "z": state()}, {}, "moves a1 z"),
        ({"x": state(a1=30, a2=30, a3=30), "y": state(69, a4=40)}, {}, ""),
        ({"x": state(a1=30, a2=30, a3=30), "y": state(70, a4=40)}, {}, "moves a1 y"),
        ({"x": state(a1=40, b1=42), "y": state(b2=10)}, {}, "moves b1 y"),
    ],
)  # fmt: skip
def test_an_exact_plan(engines: Engines, free: Mapping[str, int], plan: str) -> None:
    """The largest shard comes first; what is moved has an effect on what follows."""
    loads = {parse_shard(f"{name[0]}/{name[1:]}"): calls for name, calls in free.items()}
    made = plan_shares(engines, loads, {})
    parts = (("", made.free), ("urgent ", made.urgent), ("moves ", made.moves))
    lines = [
        f"{part}{shard.node}{shard.slot} {to}"
        for part, planned in parts
        for shard, to in sorted(planned.items())
    ]
    lines += [f"waits {shard.node}{shard.slot}" for shard in sorted(made.waiting)]
    assert ", ".join(lines) == plan
