"""A PBX's tapes: what is asked of it, what is asked again, and what is filed when."""

from collections.abc import AsyncIterator

import pytest

from engine.ami.client import AmiResponse, AmiUnavailable
from engine.ari.request import Reply
from engine.calls.model.commands import (
    ArchiveRecordings,
    MuteRecording,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import RecordingsArchived
from engine.recordings.errors import ArchiveError
from tests.harness.until import until
from tests.unit.runtime.harness.recorder_bench import (
    CALL,
    FILENAME_VARIABLE,
    FIRST,
    LEG,
    MESSAGE,
    SECOND,
    RecorderBench,
)


@pytest.fixture
async def bench() -> AsyncIterator[RecorderBench]:
    """Make a recorder."""
    bench = RecorderBench()
    yield bench
    await bench.recorder.close()


async def test_a_tape_is_started_muted_and_stopped(bench: RecorderBench) -> None:
    """Left and right apart, where ARI serves it; in the order in which it was wanted."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await bench.run(StartRecording(LEG, FIRST))
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % FIRST.encode())
    await bench.run(MuteRecording(LEG, True), MuteRecording(LEG, False), StopRecording(LEG, FIRST))
    file = f"../recording/{FIRST}.raw"
    assert bench.ami.actions == [
        ("MixMonitor", {"Channel": LEG, "File": file, "Options": "D"}),
        ("MixMonitorMute", {"Channel": LEG, "Direction": "both", "State": "1"}),
        ("MixMonitorMute", {"Channel": LEG, "Direction": "both", "State": "0"}),
        ("StopMixMonitor", {"Channel": LEG}),
    ]
    assert bench.done == [None] * 4


async def test_a_tape_that_runs_is_not_started_again(bench: RecorderBench) -> None:
    """Two writers would tear the file."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % FIRST.encode())
    await bench.run(StartRecording(LEG, FIRST))
    assert bench.ami.actions == []


async def test_only_its_own_tape_is_stopped(bench: RecorderBench) -> None:
    """A stop that is done again must not end the tape that followed."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % SECOND.encode())
    await bench.run(StopRecording(LEG, FIRST))
    assert bench.ami.actions == []


async def test_what_had_no_answer_is_asked_again(bench: RecorderBench) -> None:
    """After a look whether it was done after all."""
    bench.ami.responses = [AmiUnavailable("lost"), AmiResponse(False, "no room"), AmiResponse(True)]
    await bench.run(StartRecording(LEG, FIRST))
    assert [action for action, _ in bench.ami.actions] == ["MixMonitor"] * 3


async def test_who_may_not_any_more_leaves_the_tapes_as_they_are(bench: RecorderBench) -> None:
    """The slot may be another's: neither what is tried nor what comes after it is asked again."""
    bench.ami.responses = [AmiUnavailable("lost")]
    may = [True, False]
    for command in (StartRecording(LEG, FIRST), MuteRecording(LEG, True)):
        bench.recorder.run(command, CALL, bench.done.append, lambda: may.pop(0))
    await until(lambda: not may, what="the second try")
    await bench.run(StopRecording(LEG, SECOND))
    assert [action for action, _ in bench.ami.actions] == ["MixMonitor"]


async def test_a_leg_that_is_gone_is_not_waited_for(bench: RecorderBench) -> None:
    """There is nothing to record any more."""
    bench.ami.responses = [AmiResponse(False, "No such channel")]
    await bench.run(StartRecording(LEG, FIRST))
    assert len(bench.ami.actions) == 1


async def test_tapes_are_filed_then_deleted(bench: RecorderBench) -> None:
    """All of a conversation as one, in stereo."""
    await bench.run(ArchiveRecordings("r9", (FIRST, SECOND)))
    path = f"acme/2026-11-21/{CALL}.wav"
    assert bench.archiver.archived == [(path, 2, [FIRST, SECOND])]
    assert bench.done == [RecordingsArchived("r9", 1_200)]
    deleted = [each for each in bench.pbx.requests if each.startswith("DELETE")]
    assert deleted == [f"DELETE recordings/stored/{name}" for name in (FIRST, SECOND)]


async def test_a_message_is_filed_in_mono(bench: RecorderBench) -> None:
    """Under its own name."""
    await bench.run(ArchiveRecordings("r9", (MESSAGE,)))
    assert bench.archiver.archived == [(f"acme/2026-11-21/{CALL}.v3.wav", 1, [MESSAGE])]


@pytest.mark.parametrize("outcome", [None, ArchiveError("archive", "away")])
async def test_nothing_is_deleted_that_is_not_stored(
    bench: RecorderBench, outcome: ArchiveError | None
) -> None:
    """It is told as lost where the PBX has none of it, else as not filed yet."""
    bench.archiver.result = outcome
    await bench.run(ArchiveRecordings("r9", (FIRST,)))
    fault = "archive: away" if outcome else "lost"
    assert bench.done == [RecordingsArchived("r9", 0, fault)]
    assert not [each for each in bench.pbx.requests if each.startswith("DELETE")]


@pytest.mark.parametrize(
    ("name", "shown"), [(FIRST, f"channels/{LEG}"), (MESSAGE, f"recordings/live/{MESSAGE}")]
)
@pytest.mark.parametrize("status", [200, 0])
async def test_what_may_still_grow_is_not_filed(
    bench: RecorderBench, name: str, shown: str, status: int
) -> None:
    """A leg that lives on is recorded still, whatever was concluded about its call."""
    bench.pbx.shows[shown] = Reply(status)
    await bench.run(ArchiveRecordings("r9", (name,)))
    (told,) = bench.done
    assert isinstance(told, RecordingsArchived)
    assert told.fault.startswith("busy" if status else "pbx")
    assert bench.archiver.archived == []


async def test_a_filing_that_goes_on_is_not_begun_again(bench: RecorderBench) -> None:
    """Neither by the same errand nor by who finds it lying about."""
    bench.archiver.may_finish.clear()
    for _ in range(2):
        bench.recorder.run(ArchiveRecordings("r9", (FIRST,)), CALL, bench.done.append)
    await until(lambda: bool(bench.archiver.archived), what="filing to begin")
    with pytest.raises(ArchiveError, match="busy"):
        await bench.recorder.archive([FIRST])
    bench.archiver.may_finish.set()
    await until(lambda: bool(bench.done), what="filing to end")
    assert len(bench.archiver.archived) == 1


async def test_the_end_of_a_call_ends_what_is_tried_for_it(bench: RecorderBench) -> None:
    """A manager that is away is not asked for a leg that is gone."""
    bench.ami.responses = [AmiUnavailable("away")] * 100
    bench.recorder.run(StartRecording(LEG, FIRST), CALL, bench.done.append)
    await until(lambda: bool(bench.ami.actions), what="a try")
    await bench.run(ArchiveRecordings("r9", (FIRST,)))
    assert bench.done == [RecordingsArchived("r9", 1_200)]
