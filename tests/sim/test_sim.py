"""The simulator in the tests: many calls, the seeds that failed once, and faults planted in it."""

import itertools
import re
from collections.abc import Callable, Iterator

import pytest

from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelStateChange,
    PlaybackFinished,
)
from engine.ari.request import Request
from tests.sim.call_log import Story
from tests.sim.checks import faults_of
from tests.sim.engine_run import Broken
from tests.sim.forged_events import (
    backwards,
    crowded,
    generous,
    patient,
    undecided,
    unrecorded,
    without_ends,
)
from tests.sim.outcome import traced, wrong_in
from tests.sim.planted.digits import Closed, Fast
from tests.sim.planted.faults import (
    Chatty,
    Deaf,
    Forger,
    Forgetful,
    Hasty,
    Idle,
    SlowClock,
    StoppedClock,
    Stuttering,
)
from tests.sim.planted.lines import Again, Careless, Eager
from tests.sim.planted.recordings import Mute, Piecemeal, Shredder
from tests.sim.quiet import quiet
from tests.sim.worlds import kept_seeds, run_world, run_worlds

MANY = 3_000
WORLDS = 60  # within so many, a planted fault is found


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
    assert traced(seed, run_world) == traced(seed, run_world)


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
        "alone in silence",
    ),
    "bridges stay": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"bridges/.*"))),
        "needed by nobody|is left on the PBX",
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
        "alone in silence|ms after",
    ),
    "nobody is brought back": (
        Broken(pbx=lambda pbx: Careless(pbx, Again(_asks("POST", r"bridges/.*/addChannel")))),
        "was parted from the others",
    ),
    "nobody leaves": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("POST", r"bridges/.*/removeChannel"))),
        "was to be in Seat",
    ),
    "nobody is heard again": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"channels/.*/mute"))),
        "was to be in Seat.*mute",
    ),
    "who is held hears nothing": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("POST", r"channels/.*/moh"))),
        "alone in silence",
    ),
    "coaches' bridges stay": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"bridges/.*\.s\d+b"))),
        "needed by nobody",
    ),
    "snoops stay": (
        Broken(pbx=lambda pbx: Careless(pbx, _asks("DELETE", r"channels/.*\.s\d+"))),
        "needed by nobody",
    ),
    "answers are not heard": (
        Broken(hear=lambda hear: Deaf(hear, ChannelStateChange)),
        "answered, and left in silence",
    ),
    "keys are not heard": (Broken(hear=lambda hear: Deaf(hear, ChannelDtmfReceived)), "gathered"),
    "tapes are not started": (
        Broken(ami=lambda ami: Mute(ami, "MixMonitor")),
        "is not recorded for",
    ),
    "tapes are not stopped": (
        Broken(ami=lambda ami: Mute(ami, "StopMixMonitor")),
        "is recorded for|two tapes at once",
    ),
    "pauses are heard": (
        Broken(ami=lambda ami: Mute(ami, "MixMonitorMute")),
        "is overheard for",
    ),
    "recordings are thrown away": (Broken(cabinet=Shredder), "was filed 0 times"),
    "recordings lack a part": (Broken(cabinet=Piecemeal), "was filed 0 times"),
    "keys are heard twice": (Broken(hear=Stuttering), "gathered"),
    "keys of an outage are lost": (Broken(keys=Closed), "gathered .* of .*@.* in .* ms"),
    "keys before an outage are taken again": (Broken(keys=Fast), "gathered .* was pressed"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """The checks bite: an engine with this fault does not get through a few hundred calls."""
    broken, found = PLANTED[fault]
    words = wrong_in(range(WORLDS), lambda seed, never: run_world(seed, never, broken))
    assert any(re.search(found, each) for each in words)


FORGED = {
    "a session never ends": (without_ends, "stayed .* to the end of its call"),
    "a session goes back": (backwards, " went from "),
    "a session beside another": (crowded, "several live sessions"),
    "a party is called for too long": (patient, "was called for"),
    "a call has no record": (unrecorded, "0 records of one call"),
    "a record does not add up": (generous, "rang, talked and was on hold"),
    "a log that the commands differ": (undecided, "replay: the commands differ"),
}


@pytest.mark.parametrize("fault", FORGED)
def test_a_forged_story_is_found(fault: str) -> None:
    """The checks bite: what a core that forgets this would leave behind is found."""
    forge, found = FORGED[fault]
    assert any(re.search(found, words) for words in _wrong_in(forge))


def _wrong_in(forge: Callable[[Story], Story]) -> Iterator[str]:
    with quiet() as never:
        for seed in range(WORLDS):
            outcome = run_world(seed, never)
            told = [forge(story) for story in outcome.told]
            yield from (words for _, words in faults_of(outcome.world, told))
