"""The simulator in the tests: many random calls, seeds that failed once, and planted faults."""

import itertools
import re
from collections.abc import Callable

import pytest

from tests.sim.call_histories import CallHistory
from tests.sim.checks import find_violations
from tests.sim.engine_log import silenced_log
from tests.sim.forged_histories import (
    duplicate_sessions,
    rings_too_long,
    session_restarts,
    sessions_never_end,
    talks_too_long,
    without_record,
    wrong_digest,
)
from tests.sim.planted import scripts
from tests.sim.planted.run import run_script, violations_in_script
from tests.sim.planted.script import Script
from tests.sim.planted.table import PLANTED
from tests.sim.runs.first_seed import first_seed
from tests.sim.runs.report import failures
from tests.sim.worlds import NO_OVERRIDES, PROGRAM, regression_seeds, run_world, run_worlds

PARTS = 10  # so short that both cores end at about the same time
PART_CALLS = 300
PART_SEEDS = 100  # more than a part plays
FAULTS = 4  # kinds that a part meets at least (measured: 8 to 16)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_calls_satisfy_all_checks(part: int) -> None:
    """With any faults, each call runs, is audible, ends, is published and is stored correctly."""
    seeds = itertools.count(first_seed() + part * PART_SEEDS)
    tally = run_worlds(seeds, max_calls=PART_CALLS)

    assert not tally.failed, failures(tally, PROGRAM)
    assert tally.calls >= PART_CALLS
    assert len(tally.injected) >= FAULTS, tally.injected


@pytest.mark.parametrize("seed", regression_seeds())
def test_regression_seed_satisfies_all_checks(seed: int) -> None:
    """A seed that failed once does not fail again."""
    tally = run_worlds([seed], audit_every=1)
    assert not tally.failed, failures(tally, PROGRAM)


@pytest.mark.parametrize("seed", [0, 9, 126])
def test_steps_that_ran_are_those_of_a_replay(seed: int) -> None:
    """The checks of a world see the same steps, whether its logs are replayed or not."""
    with silenced_log() as forbidden:
        replayed = run_world(seed, forbidden).histories
        live = run_world(seed, forbidden, is_audited=False).histories

    assert any(history.is_replayed for history in replayed)
    assert not any(history.is_replayed for history in live)
    assert [history.steps for history in live] == [history.steps for history in replayed]


@pytest.mark.parametrize(
    "script",
    [
        scripts.DIAL,
        scripts.TIMEOUT,
        scripts.CRASH,
        scripts.CONFERENCE,
        scripts.RECORDING,
        scripts.WEBHOOK,
        scripts.OUTAGE,
        scripts.MENUS,
        scripts.SPEECH,
        scripts.SPEECH_OUTAGE,
        scripts.FLOOD,
        scripts.HOLDS,
    ],
    ids=[
        "dial",
        "timeout",
        "crash",
        "conference",
        "recording",
        "webhook",
        "outage",
        "menus",
        "speech",
        "speech-outage",
        "flood",
        "holds",
    ],
)
def test_script_without_planted_fault_satisfies_all_checks(script: Script) -> None:
    """The checks find nothing in the scripts themselves."""
    assert violations_in_script(script, NO_OVERRIDES) == []


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_fault_is_found(fault: str) -> None:
    """The checks find each fault in the script that was written for it."""
    planted = PLANTED[fault]
    violations = violations_in_script(planted.script, planted.overrides)
    assert any(re.search(planted.violation, each) for each in violations), violations


Forge = Callable[[CallHistory], CallHistory]
FORGED: dict[str, tuple[Forge, str]] = {
    "a session never ends": (sessions_never_end, "stayed .* to the end of its call"),
    "a session restarts": (session_restarts, " went from "),
    "two sessions are live": (duplicate_sessions, "several live sessions"),
    "a party rings too long": (rings_too_long, "rang for"),
    "a call has no record": (without_record, "0 records of one call"),
    "a record does not add up": (talks_too_long, "rang, talked, held, waited"),
    "a step replays to other commands": (wrong_digest, "replay: the commands differ"),
}


@pytest.mark.parametrize("fault", FORGED)
def test_forged_history_is_found(fault: str) -> None:
    """The checks find what a core with this fault would leave behind."""
    forge, violation = FORGED[fault]
    world, histories = run_script(scripts.CONFERENCE, NO_OVERRIDES)
    violations = [message for _, message in find_violations(world, list(map(forge, histories)))]
    assert any(re.search(violation, each) for each in violations), violations
