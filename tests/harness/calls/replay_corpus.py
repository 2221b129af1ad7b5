"""The replay corpus: logs of calls, and what the core has made of each of their lines.

`tools/replay_corpus.py` records them from the simulator. A core that decides otherwise, or whose
state differs, is another core: then a call that runs during an update cannot be replayed.
"""

import lzma
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.calls.model.storage_format import digest_of, encode
from engine.calls.replay_audit import ReplayStep, replay
from engine.calls.states import deadline_ms

FILE = Path(__file__).with_suffix(".bin")


class CorpusCall(Struct, frozen=True, array_like=True):
    """The lines of a call's log, and a checksum of each step's state and commands."""

    call_id: str
    log: tuple[bytes, ...]
    checksums: tuple[int, ...]


def record(call_id: str, log: Sequence[bytes]) -> CorpusCall:
    """Record what the core makes of a log."""
    return CorpusCall(call_id, tuple(log), tuple(map(checksum, replay(log))))


def checksum(step: ReplayStep) -> int:
    """Return 16 bits of what a step has led to: its commands, the state and its deadline."""
    made = b"%d %d " % (digest_of(step.commands), deadline_ms(step.call) or 0)
    return zlib.crc32(made + encode(step.call)) & 0xFFFF


def differences(recorded: CorpusCall) -> Iterator[tuple[int, ReplayStep]]:
    """Yield the steps that lead to something else than they did, and their numbers."""
    for number, step in enumerate(replay(recorded.log)):
        if checksum(step) != recorded.checksums[number]:
            yield number, step


def write(calls: Sequence[CorpusCall]) -> None:
    FILE.write_bytes(lzma.compress(msgspec.msgpack.encode(calls)))


def read() -> list[CorpusCall]:
    body = lzma.decompress(FILE.read_bytes())
    return msgspec.msgpack.decode(body, type=list[CorpusCall])
