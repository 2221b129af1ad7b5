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
from tests.sim.call_histories import CallHistory
from tests.sim.checks import find_violations
from tests.sim.engine_log import silenced_log
from tests.sim.engine_run import PartOverrides
from tests.sim.forged_histories import (
    duplicate_sessions,
    rings_too_long,
    session_restarts,
    sessions_never_end,
    talks_too_long,
    without_record,
    wrong_digest,
)
from tests.sim.outcome import trace_lines, violations_in
from tests.sim.planted.digits import DroppingDtmfListener, FastDtmfListener
from tests.sim.planted.parts import (
    DoublingListener,
    DroppingListener,
    DuplicatingWriter,
    EarlyWriter,
    ForgingIoRunner,
    IdleIoRunner,
    LosingWriter,
    SlowClock,
    StoppedClock,
)
from tests.sim.planted.pbx import DroppingPbx, DuplicatingPbx, Repeated
from tests.sim.planted.recordings import DroppingAmi, FirstPartArchiver, LosingArchiver
from tests.sim.worlds import regression_seeds, run_world, run_worlds

CALLS = 3_000
WORLDS = 60  # within so many, a planted fault is found


def test_calls_come_to_their_ends_whatever_strikes() -> None:
    """Thousands of calls: each is histories, answered, heard and ended as it should, and stored."""
    tally = run_worlds(itertools.count(1_000_000), max_calls=CALLS)

    assert tally.calls >= CALLS
    assert len(tally.faults) >= 9, tally.faults
    assert not tally.failed


def test_seeds_that_failed_once_do_not_fail_again() -> None:
    """What was found once stays mended."""
    assert not run_worlds(regression_seeds()).failed


@pytest.mark.parametrize("seed", [0, 9, 126])
def test_a_seed_is_always_the_same_story(seed: int) -> None:
    """A seed that failed can be looked at: it does the same again, to the millisecond."""
    assert trace_lines(seed, run_world) == trace_lines(seed, run_world)


def _matches(method: str, path: str) -> Callable[[Request], bool]:
    return lambda request: request.method == method and bool(re.fullmatch(path, request.path))


PLANTED = {
    "a commit is lost": (PartOverrides(writer=LosingWriter), "its log does not lead to its record"),
    "histories twice": (
        PartOverrides(writer=DuplicatingWriter),
        "histories something else than its log says",
    ),
    "done before it is stored": (
        PartOverrides(writer=EarlyWriter),
        "its log does not say so|twice",
    ),
    "the clock stands": (PartOverrides(clock=StoppedClock), "ms after a deadline"),
    "the clock is slow": (PartOverrides(clock=SlowClock), "ms after a deadline"),
    "two bodies, one id": (PartOverrides(io_runner=ForgingIoRunner), "was used for two bodies"),
    "errands never end": (PartOverrides(io_runner=IdleIoRunner), "gave up in"),
    "music goes on": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"channels/.*/moh"))),
        "music in the conversation",
    ),
    "played twice": (
        PartOverrides(
            pbx=lambda pbx: DuplicatingPbx(pbx, _matches("POST", r"channels/.*/play/.*"))
        ),
        "heard twice",
    ),
    "not played": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("POST", r"channels/.*/play/.*"))),
        "was never heard",
    ),
    "nobody is histories to hang up": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"channels/[^/]*"))),
        "was to end at .*, and went on",
    ),
    "nobody is joined": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("POST", r"bridges/.*/addChannel"))),
        "alone in silence",
    ),
    "bridges stay": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"bridges/.*"))),
        "needed by nobody|is left on the PBX",
    ),
    "nobody is answered": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("POST", r"channels/.*/answer"))),
        "came in and was not answered",
    ),
    "ends of prompts are not heard": (
        PartOverrides(on_event=lambda on_event: DroppingListener(on_event, PlaybackFinished)),
        "ms after its end",
    ),
    "hangups are not heard": (
        PartOverrides(on_event=lambda on_event: DroppingListener(on_event, ChannelDestroyed)),
        "alone in silence|ms after",
    ),
    "nobody is brought back": (
        PartOverrides(
            pbx=lambda pbx: DroppingPbx(pbx, Repeated(_matches("POST", r"bridges/.*/addChannel")))
        ),
        "was parted from the others",
    ),
    "nobody leaves": (
        PartOverrides(
            pbx=lambda pbx: DroppingPbx(pbx, _matches("POST", r"bridges/.*/removeChannel"))
        ),
        "expected LegMedia",
    ),
    "nobody is heard again": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"channels/.*/mute"))),
        "expected LegMedia.*mute",
    ),
    "who is held hears nothing": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("POST", r"channels/.*/moh"))),
        "alone in silence",
    ),
    "coaches' bridges stay": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"bridges/.*\.s\d+b"))),
        "needed by nobody",
    ),
    "snoops stay": (
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches("DELETE", r"channels/.*\.s\d+"))),
        "needed by nobody",
    ),
    "answers are not heard": (
        PartOverrides(on_event=lambda on_event: DroppingListener(on_event, ChannelStateChange)),
        "answered, and left in silence",
    ),
    "keys are not heard": (
        PartOverrides(on_event=lambda on_event: DroppingListener(on_event, ChannelDtmfReceived)),
        "gathered",
    ),
    "tapes are not started": (
        PartOverrides(ami=lambda ami: DroppingAmi(ami, "MixMonitor")),
        "is not recorded for",
    ),
    "tapes are not stopped": (
        PartOverrides(ami=lambda ami: DroppingAmi(ami, "StopMixMonitor")),
        "is recorded for|two recordings at once",
    ),
    "pauses are heard": (
        PartOverrides(ami=lambda ami: DroppingAmi(ami, "MixMonitorMute")),
        "is recorded while paused for",
    ),
    "recordings are thrown away": (PartOverrides(archiver=LosingArchiver), "was archived 0 times"),
    "recordings lack a part": (PartOverrides(archiver=FirstPartArchiver), "was archived 0 times"),
    "keys are heard twice": (PartOverrides(on_event=DoublingListener), "gathered"),
    "keys of an outage are lost": (
        PartOverrides(dtmf=DroppingDtmfListener),
        "gathered .* of .*@.* in .* ms",
    ),
    "keys before an outage are taken again": (
        PartOverrides(dtmf=FastDtmfListener),
        "gathered .* was pressed",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault: str) -> None:
    """The checks bite: an engine with this fault does not get through a few hundred calls."""
    overrides, found = PLANTED[fault]
    message = violations_in(
        range(WORLDS), lambda seed, forbidden: run_world(seed, forbidden, overrides)
    )
    assert any(re.search(found, each) for each in message)


FORGED = {
    "a session never ends": (sessions_never_end, "stayed .* to the end of its call"),
    "a session goes back": (session_restarts, " went from "),
    "a session beside another": (duplicate_sessions, "several live sessions"),
    "a party is called for too long": (rings_too_long, "was called for"),
    "a call has no record": (without_record, "0 records of one call"),
    "a record does not add up": (talks_too_long, "rang, talked and was on hold"),
    "a log that the commands differ": (wrong_digest, "replay: the commands differ"),
}


@pytest.mark.parametrize("fault", FORGED)
def test_a_forged_story_is_found(fault: str) -> None:
    """The checks bite: what a core that forgets this would leave behind is found."""
    forge, found = FORGED[fault]
    assert any(re.search(found, message) for message in _forged_violations(forge))


def _forged_violations(forge: Callable[[CallHistory], CallHistory]) -> Iterator[str]:
    with silenced_log() as forbidden:
        for seed in range(WORLDS):
            outcome = run_world(seed, forbidden)
            histories = [forge(history) for history in outcome.histories]
            yield from (message for _, message in find_violations(outcome.world, histories))
