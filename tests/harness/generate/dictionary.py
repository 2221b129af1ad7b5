"""Makes a dictionary for compressed calls from the calls of the simulator.

`python -m tests.harness.generate.dictionary NUMBER` writes engine/store/dictionaries/NUMBER.bin. A
dictionary never changes once it is released: make one with the next number.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from engine.store.compressed_call import DICTIONARIES, EndedCall, encode_body
from tests.harness.sim.store import done
from tests.sim.engine_run import PartOverrides
from tests.sim.world import World

WORLDS, CALLS = 60, 40
GRAM = 6  # bytes; deflate copies three or more, but a copy costs two to three
MIN_CALLS = 40  # a text of fewer calls is no common one
MAX_SIZE = 8_192  # what is further away costs more bits


def simulated_calls() -> Iterator[EndedCall]:
    """Run worlds, and return their ended calls."""
    for seed in range(WORLDS):
        world = World(seed, CALLS, PartOverrides())
        world.run()
        yield from done(_ended_calls(world))


async def _ended_calls(world: World) -> list[EndedCall]:
    return [
        EndedCall(state, tuple(await world.memory.log(0, call_id)))
        async for call_id, state in world.memory.ended(0)
    ]


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
    target.write_bytes(dictionary_of([encode_body(each) for each in simulated_calls()]))


if __name__ == "__main__":
    main()
