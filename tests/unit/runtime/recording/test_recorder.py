"""Recording commands: what is sent to the PBX, what is retried, what is archived when."""

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


async def test_a_recording_is_started_muted_and_stopped(bench: RecorderBench) -> None:
    """Both directions are recorded apart, where ARI serves them; commands keep their order."""
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


async def test_a_running_recording_is_not_started_again(bench: RecorderBench) -> None:
    """Two writers would corrupt the file."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % FIRST.encode())
    await bench.run(StartRecording(LEG, FIRST))
    assert bench.ami.actions == []


async def test_only_its_own_recording_is_stopped(bench: RecorderBench) -> None:
    """A repeated stop must not end the next recording."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % SECOND.encode())
    await bench.run(StopRecording(LEG, FIRST))
    assert bench.ami.actions == []


async def test_a_failed_command_is_retried(bench: RecorderBench) -> None:
    """Each retry first checks whether the command was executed after all."""
    bench.ami.responses = [AmiUnavailable("lost"), AmiResponse(False, "no room"), AmiResponse(True)]
    await bench.run(StartRecording(LEG, FIRST))
    assert [action for action, _ in bench.ami.actions] == ["MixMonitor"] * 3


async def test_a_lost_lease_stops_retries(bench: RecorderBench) -> None:
    """Another engine may own the slot: neither the retry nor later commands are sent."""
    bench.ami.responses = [AmiUnavailable("lost")]
    is_allowed = [True, False]
    for command in (StartRecording(LEG, FIRST), MuteRecording(LEG, True)):
        bench.recorder.run(command, CALL, bench.done.append, lambda: is_allowed.pop(0))
    await until(lambda: not is_allowed, what="the second attempt")
    await bench.run(StopRecording(LEG, SECOND))
    assert [action for action, _ in bench.ami.actions] == ["MixMonitor"]


async def test_a_recovery_repeats_no_command_behind_a_later_one(bench: RecorderBench) -> None:
    """After start, stop and the next start, a repeated start would overwrite the first file."""
    commands = (StartRecording(LEG, FIRST), StopRecording(LEG, FIRST), StartRecording(LEG, SECOND))
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(0)
    for command in commands:
        bench.recorder.run(command, CALL, bench.done.append)
    await until(lambda: bool(bench.pbx.requests), what="a try")
    bench.recorder.drop_waiting(CALL)
    for command in commands:
        bench.recorder.run(command, CALL, bench.done.append)
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await until(lambda: len(bench.done) == len(commands), what="the commands to be done")
    started = [fields["File"] for action, fields in bench.ami.actions if action == "MixMonitor"]
    assert started == [f"../recording/{name}.raw" for name in (FIRST, SECOND)]


async def test_the_next_owner_starts_while_the_last_one_is_being_cancelled(
    bench: RecorderBench,
) -> None:
    """Its commands are not lost with those of the owner before it."""
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(0)
    bench.recorder.run(StartRecording(LEG, FIRST), CALL, bench.done.append)
    await until(lambda: bool(bench.pbx.requests), what="a try")
    bench.recorder.abandon(CALL)
    bench.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await bench.run(StartRecording(LEG, SECOND))
    assert [action for action, _ in bench.ami.actions] == ["MixMonitor"]


async def test_an_ended_leg_is_not_retried(bench: RecorderBench) -> None:
    """There is nothing to record any more."""
    bench.ami.responses = [AmiResponse(False, "No such channel")]
    await bench.run(StartRecording(LEG, FIRST))
    assert len(bench.ami.actions) == 1


async def test_files_are_archived_then_deleted(bench: RecorderBench) -> None:
    """All files of a conversation are one stereo recording."""
    await bench.run(ArchiveRecordings("r9", (FIRST, SECOND)))
    path = f"acme/2026-11-21/{CALL}.wav"
    assert bench.archiver.archived == [(path, 2, [FIRST, SECOND])]
    assert bench.done == [RecordingsArchived("r9", 1_200)]
    deleted = [each for each in bench.pbx.requests if each.startswith("DELETE")]
    assert deleted == [f"DELETE recordings/stored/{name}" for name in (FIRST, SECOND)]


async def test_a_voicemail_is_archived_in_mono(bench: RecorderBench) -> None:
    """It is archived under its own name."""
    await bench.run(ArchiveRecordings("r9", (MESSAGE,)))
    assert bench.archiver.archived == [(f"acme/2026-11-21/{CALL}.v3.wav", 1, [MESSAGE])]


@pytest.mark.parametrize("outcome", [None, ArchiveError("archive", "away")])
async def test_nothing_is_deleted_that_is_not_archived(
    bench: RecorderBench, outcome: ArchiveError | None
) -> None:
    """The recording is lost if the PBX has no file; otherwise archiving failed for now."""
    bench.archiver.result = outcome
    await bench.run(ArchiveRecordings("r9", (FIRST,)))
    fault = "archive" if outcome else "lost"
    assert bench.done == [RecordingsArchived("r9", 0, fault)]
    assert not [each for each in bench.pbx.requests if each.startswith("DELETE")]


@pytest.mark.parametrize(
    ("name", "shown"), [(FIRST, f"channels/{LEG}"), (MESSAGE, f"recordings/live/{MESSAGE}")]
)
@pytest.mark.parametrize("status", [200, 0])
async def test_a_growing_file_is_not_archived(
    bench: RecorderBench, name: str, shown: str, status: int
) -> None:
    """A leg that is up is still recorded, whatever was concluded about its call."""
    bench.pbx.shows[shown] = Reply(status)
    await bench.run(ArchiveRecordings("r9", (name,)))
    (event,) = bench.done
    assert isinstance(event, RecordingsArchived)
    assert event.fault == ("busy" if status else "pbx")
    assert bench.archiver.archived == []


async def test_a_leg_that_is_listed_after_its_end_delays_archiving(bench: RecorderBench) -> None:
    """The record has the length of the recording, although the PBX lists the leg for a moment."""
    shown = f"channels/{LEG}"
    bench.pbx.shows[shown] = Reply(200)
    bench.recorder.run(ArchiveRecordings("r9", (FIRST,)), CALL, bench.done.append)
    await until(lambda: f"GET {shown}" in bench.pbx.requests, what="the look at the leg")
    del bench.pbx.shows[shown]
    await until(lambda: bool(bench.done), what="the result")
    (event,) = bench.done
    assert isinstance(event, RecordingsArchived)
    assert not event.fault


async def test_archiving_is_not_started_twice(bench: RecorderBench) -> None:
    """Neither by the same command nor by the sweeper."""
    bench.archiver.may_finish.clear()
    for _ in range(2):
        bench.recorder.run(ArchiveRecordings("r9", (FIRST,)), CALL, bench.done.append)
    await until(lambda: bool(bench.archiver.archived), what="filing to begin")
    with pytest.raises(ArchiveError, match="busy"):
        await bench.recorder.archive([FIRST])
    bench.archiver.may_finish.set()
    await until(lambda: bool(bench.done), what="filing to end")
    assert len(bench.archiver.archived) == 1


async def test_the_end_of_a_call_ends_its_retries(bench: RecorderBench) -> None:
    """An unreachable AMI gets no command for an ended leg."""
    bench.ami.responses = [AmiUnavailable("away")] * 100
    bench.recorder.run(StartRecording(LEG, FIRST), CALL, bench.done.append)
    await until(lambda: bool(bench.ami.actions), what="a try")
    await bench.run(ArchiveRecordings("r9", (FIRST,)))
    assert bench.done == [RecordingsArchived("r9", 1_200)]
