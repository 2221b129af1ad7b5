"""The simulator in the tests: many calls, the seeds that failed once, and faults planted in it."""

import itertools
import re
from collections.abc import Callable, Iterator

import pytest

from engine.ari.generated.events import ChannelDestroyed, ChannelDtmfReceived, PlaybackFinished
from engine.ari.request import Request
from tests.sim.crowd import kept_seeds, run_world, run_worlds
from tests.sim.life import Broken
from tests.sim.planted import (
    Careless,
    Chatty,
    Deaf,
    Eager,
    Forger,
    Forgetful,
    Hasty,
    Idle,
    SlowClock,
    StoppedClock,
    Stuttering,
)
from tests.sim.quiet import quiet

MANY = 3_000
WORLDS = 20  # within so many, a planted fault is found


def test_calls_come_to_their_ends_whatever_strikes() -> None:
    """Thousands of calls: each is told, answered, heard and ended as it should, and stored."""
    tally = run_worlds(itertools.count(1_000_000), most_calls=MANY)

    assert tally.calls >= MANY
    assert len(tally.faults) >= 9, tally.faults
    assert not tally.failed


def test_seeds_that_failed_once_do_not_fail_again() -> None:
    """What was found once stays mended."""
    assert not run_worlds(kept_seeds()).failed


@pytest.mark.parametrize("seed", [0, 9, 126])
def test_a_seed_is_always_the_same_story(seed: int) -> None:
    """A seed that failed can be looked at: it does the same again, to the millisecond."""
    assert _trace(seed) == _trace(seed)


def _trace(seed: int) -> list[str]:
    lines: list[str] = []
    with quiet() as never:
        outcome = run_world(
            seed, never, trace=lambda at_ms, words: lines.append(f"{at_ms} {words}")
        )
    assert len(lines) > 100
    return [*lines, *(repr(story) for story in outcome.told)]


def _asks(method: str, path: str) -> Callable[[Request], bool]:
    return lambda request: request.method == method and bool(re.fullmatch(path, request.path))


PLANTED = {
    "a commit is lost": (Broken(writer=Forgetful), "its log does not lead to its record"),
    "told twice": (Broken(writer=Chatty), "told something else than its log says"),
    "done before it is stored": (Broken(writer=Hasty), "its log does not say so|twice"),
    "the clock stands": (Broken(clock=StoppedClock), "ms after a deadline"),
    "the clock is slow": (Broken(clock=SlowClock), "ms after a deadline"),
    "two bodies, one id": (Broken(errands=Forger), "was used for two bodies"),
    "errands never end": (Broken(errands=Idle), "gave up in"),
    "music goes on": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"channels/.*/moh"))),
        "music in the conversation",
    ),
    "played twice": (
        Broken(pbx=lambda pbx: Eager(pbx, _asks("POST", r"channels/.*/play/.*"))),
        "heard twice",
    ),
    "not played": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("POST", r"channels/.*/play/.*"))),
        "was never heard",
    ),
    "nobody is told to hang up": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"channels/[^/]*"))),
        "was to end at .*, and went on",
    ),
    "nobody is joined": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("POST", r"bridges/.*/addChannel"))),
        "answered, and left in silence",
    ),
    "bridges stay": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"bridges/.*"))),
        "held one alone|is left on the PBX",
    ),
    "nobody is answered": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("POST", r"channels/.*/answer"))),
        "came in and was not answered",
    ),
    "ends of prompts are not heard": (
        Broken(hear=lambda hear: Deaf(hear, PlaybackFinished)),
        "ms after its end",
    ),
    "hangups are not heard": (
        Broken(hear=lambda hear: Deaf(hear, ChannelDestroyed)),
        "held one alone|answered, and left in silence|ms after",
    ),
    "keys are not heard": (Broken(hear=lambda hear: Deaf(hear, ChannelDtmfReceived)), "gathered"),
    "keys are heard twice": (Broken(hear=Stuttering), "gathered"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """The checks bite: an engine with this fault does not get through a few hundred calls."""
    broken, found = PLANTED[fault]
    assert any(re.search(found, words) for words in _wrong(broken))


def _wrong(broken: Broken) -> Iterator[str]:
    with quiet() as never:
        for seed in range(WORLDS):
            yield from (words for _, words in run_world(seed, never, broken).wrong)
