"""Makes a dictionary for compressed calls: from calls of the simulator and standard calls.

`python -m tools.dictionary NUMBER` writes engine/store/dictionaries/NUMBER.bin. A
dictionary never changes once it is released: make one with the next number.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from engine.calls.model.commands import Hangup
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.storage_format import FORMAT, StoredCall, encode
from engine.store.compressed_call import DICTIONARIES, encode_parts
from tests.harness.recorded_call import RecordedCall, record_call
from tests.harness.sim.store import done
from tests.sim.engine_run import SHARD, PartOverrides
from tests.sim.world import World
from tools.bench.engine.standard import STARTED_MS, standard_call, standard_events

WORLDS, CALLS, STANDARD_CALLS = 60, 40, 100
GRAM = 6  # bytes; deflate copies three or more, but a copy costs two to three
MIN_CALLS = 40  # a text of fewer calls is no common one
ARCHIVE = RecordingDestination("file:///var/lib/switchroom/recordings/", "acme/2026-11-26")
MAX_SIZE = 8_192  # what is further away costs more bits


def simulated_calls() -> Iterator[bytes]:
    """Run worlds, and return the texts of their ended calls."""
    for seed in range(WORLDS):
        world = World(seed, CALLS, PartOverrides())
        world.run()
        yield from done(_ended_calls(world))


async def _ended_calls(world: World) -> list[bytes]:
    return [
        encode_parts(call_id, (state, *await world.memory.log(SHARD, call_id)))[1]
        async for call_id, state in world.memory.ended(SHARD)
    ]


def standard_calls() -> Iterator[bytes]:
    """Return the texts of inbound calls as the benches make them, at different times."""
    events = standard_events()
    for number in range(STANDARD_CALLS):
        created_ms = STARTED_MS + number * 7_919
        opened = replace(
            standard_call(),
            account="acme",
            created_ms=created_ms,
            caller_id="+15550001",
            recording_destination=ARCHIVE,
        )
        times = (created_ms + 613 * step for step in range(len(events)))
        recorded = record_call(opened, zip(times, events, strict=True))
        yield encode_parts(opened.id, (encode(_as_stored(recorded)), *recorded.log))[1]


def _as_stored(recorded: RecordedCall) -> StoredCall:
    hangup = Hangup(recorded.call.main, 16)
    return StoredCall(recorded.call, (hangup,), len(recorded.log), FORMAT, clock_offset_ms=0)


def dictionary_of(bodies: Sequence[bytes]) -> bytes:
    """Return what many texts have in common, the most frequent last: it is referred to shortest."""
    frequent = _frequent(bodies)
    found = Counter(text for body in bodies for text in _common_texts(body, frequent))
    chosen: list[bytes] = []
    covered: set[bytes] = set()
    size = 0
    for text, count in sorted(found.items(), key=lambda each: (-each[1] * len(each[0]), each[0])):
        grams = {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}
        is_new = len(grams - covered) * 2 >= len(grams)
        if count > 1 and is_new and size + len(text) <= MAX_SIZE:
            chosen.append(text)
            covered |= grams
            size += len(text)
    return b"".join(reversed(chosen))


def _frequent(bodies: Sequence[bytes]) -> set[bytes]:
    counts = Counter[bytes]()
    for body in bodies:
        counts.update({body[at : at + GRAM] for at in range(len(body) - GRAM + 1)})
    return {gram for gram, count in counts.items() if count >= MIN_CALLS}


def _common_texts(body: bytes, frequent: set[bytes]) -> Iterator[bytes]:
    """Split a text into its longest parts of which each piece is frequent."""
    begin, end = 0, len(body) - GRAM + 1
    while begin < end:
        stop = begin
        while stop < end and body[stop : stop + GRAM] in frequent:
            stop += 1
        if stop > begin:
            yield body[begin : stop + GRAM - 1]
        begin = max(stop, begin + 1)


def main() -> None:
    """Write the dictionary of the given number."""
    target = DICTIONARIES / f"{int(sys.argv[1])}.bin"
    target.write_bytes(dictionary_of([*simulated_calls(), *standard_calls()]))


if __name__ == "__main__":
    main()
