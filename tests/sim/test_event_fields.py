"""Events of simulated calls have the fields that the reference lists."""

from typing import Any

import msgspec

from engine.store.stream import START
from tests.harness.sim.store import done
from tests.sim.engine_run import SHARD, PartOverrides
from tests.sim.world import World
from tools.docs.reference import events
from tools.docs.reference.event_texts import FAMILIES

SEEDS = range(3)


def test_events_have_the_fields_that_their_pages_list() -> None:
    """Events of simulated calls have no others."""
    found: dict[str, set[str]] = {}
    for seed in SEEDS:
        world = World(seed, 40, PartOverrides())
        world.run()
        for event in emitted(world):
            found.setdefault(event["event"], set()).update(event)
    texts = {kind: each for family in FAMILIES.values() for kind, each in family.events.items()}
    assert len(found) > len(texts) / 2
    for kind, fields in found.items():
        assert fields - set(events.COMMON) <= set(texts[kind].fields), kind


def emitted(world: World) -> list[dict[str, Any]]:
    """Return the events on the stream of a world's shard."""
    found = done(world.memory.stream.read_after({SHARD: START}, limit=1_000_000))
    return [msgspec.json.decode(body) for _, _, body in found]
