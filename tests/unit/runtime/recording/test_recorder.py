"""Recording commands: what is sent to the PBX, what is retried, what is archived when."""

from collections.abc import AsyncIterator
from typing import cast

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
from engine.recordings import ArchiveError
from engine.runtime.recording.recorder import FencedRecorder
from engine.store.store import LeaseView
from tests.harness.runtime.recorder_scene import (
    CALL,
    FILENAME_VARIABLE,
    FIRST,
    LEG,
    MESSAGE,
    SECOND,
    RecorderScene,
)
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time


@pytest.fixture
async def scene() -> AsyncIterator[RecorderScene]:
    """Make a recorder."""
    scene = RecorderScene()
    yield scene
    await scene.recorder.close()


async def test_a_recording_is_started_muted_and_stopped(scene: RecorderScene) -> None:
    """Both directions are recorded apart, where ARI serves them; commands keep their order."""
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await scene.run(StartRecording(LEG, FIRST))
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % FIRST.encode())
    await scene.run(MuteRecording(LEG, True), MuteRecording(LEG, False), StopRecording(LEG, FIRST))
    file = f"../recording/{FIRST}.raw"
    assert scene.ami.actions == [
        ("MixMonitor", {"Channel": LEG, "File": file, "Options": "D"}),
        ("MixMonitorMute", {"Channel": LEG, "Direction": "both", "State": "1"}),
        ("MixMonitorMute", {"Channel": LEG, "Direction": "both", "State": "0"}),
        ("StopMixMonitor", {"Channel": LEG}),
    ]
    assert scene.done == [None] * 4


async def test_a_running_recording_is_not_started_again(scene: RecorderScene) -> None:
    """Two writers would corrupt the file."""
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % FIRST.encode())
    await scene.run(StartRecording(LEG, FIRST))
    assert scene.ami.actions == []


async def test_only_its_own_recording_is_stopped(scene: RecorderScene) -> None:
    """A repeated stop must not end the next recording."""
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(200, b'{"value":"/spool/%s.raw"}' % SECOND.encode())
    await scene.run(StopRecording(LEG, FIRST))
    assert scene.ami.actions == []


@virtual_time
async def test_a_failed_command_is_retried() -> None:
    """Each retry first checks whether the command was executed after all."""
    scene = RecorderScene()
    scene.ami.responses = [AmiUnavailable("lost"), AmiResponse(False, "no room"), AmiResponse(True)]
    await scene.run(StartRecording(LEG, FIRST))
    assert [action for action, _ in scene.ami.actions] == ["MixMonitor"] * 3


async def test_a_lost_lease_stops_retries(scene: RecorderScene) -> None:
    """Another engine may own the slot: neither the retry nor later commands are sent."""
    scene.ami.responses = [AmiUnavailable("lost")]
    is_allowed = [True, False]
    for command in (StartRecording(LEG, FIRST), MuteRecording(LEG, True)):
        scene.recorder.run(command, CALL, scene.done.append, lambda: is_allowed.pop(0))
    await until(lambda: not is_allowed, what="the second attempt")
    await scene.run(StopRecording(LEG, SECOND))
    assert [action for action, _ in scene.ami.actions] == ["MixMonitor"]


class ShortLease:
    """A lease that holds once."""

    def __init__(self) -> None:
        self.answers = [True, False]

    @property
    def holds(self) -> bool:
        return self.answers.pop(0)


async def test_a_recorder_of_a_slot_works_while_its_lease_holds(scene: RecorderScene) -> None:
    """The next owner of the slot repeats the other commands."""
    lease = ShortLease()
    fenced = FencedRecorder(scene.recorder, cast("LeaseView", lease))
    for command in (StartRecording(LEG, FIRST), MuteRecording(LEG, True)):
        fenced.run(command, CALL, scene.done.append)
    await until(lambda: not lease.answers, what="the second command")
    await scene.run(StopRecording(LEG, SECOND))
    assert [action for action, _ in scene.ami.actions] == ["MixMonitor"]


async def test_a_recovery_repeats_no_command_behind_a_later_one(scene: RecorderScene) -> None:
    """After start, stop and the next start, a repeated start would overwrite the first file."""
    commands = (StartRecording(LEG, FIRST), StopRecording(LEG, FIRST), StartRecording(LEG, SECOND))
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(0)
    for command in commands:
        scene.recorder.run(command, CALL, scene.done.append)
    await until(lambda: bool(scene.pbx.requests), what="a try")
    scene.recorder.drop_waiting(CALL)
    for command in commands:
        scene.recorder.run(command, CALL, scene.done.append)
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await until(lambda: len(scene.done) == len(commands), what="the commands to be done")
    started = [fields["File"] for action, fields in scene.ami.actions if action == "MixMonitor"]
    assert started == [f"../recording/{name}.raw" for name in (FIRST, SECOND)]


async def test_the_next_owner_starts_while_the_last_one_is_being_cancelled(
    scene: RecorderScene,
) -> None:
    """Its commands are not lost with those of the owner before it."""
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(0)
    scene.recorder.run(StartRecording(LEG, FIRST), CALL, scene.done.append)
    await until(lambda: bool(scene.pbx.requests), what="a try")
    scene.recorder.abandon(CALL)
    scene.pbx.shows[FILENAME_VARIABLE] = Reply(404)
    await scene.run(StartRecording(LEG, SECOND))
    assert [fields["File"] for _, fields in scene.ami.actions] == [f"../recording/{SECOND}.raw"]


async def test_an_ended_leg_is_not_retried(scene: RecorderScene) -> None:
    """There is nothing to record any more."""
    scene.ami.responses = [AmiResponse(False, "No such channel")]
    await scene.run(StartRecording(LEG, FIRST))
    assert len(scene.ami.actions) == 1


async def test_files_are_archived_then_deleted(scene: RecorderScene) -> None:
    """All files of a conversation are one stereo recording."""
    await scene.run(ArchiveRecordings("r9", (FIRST, SECOND)))
    path = f"acme/2026-11-21/{CALL}.wav"
    assert scene.archiver.archived == [(path, 2, [FIRST, SECOND])]
    assert scene.done == [RecordingsArchived("r9", 1_200)]
    deleted = [each for each in scene.pbx.requests if each.startswith("DELETE")]
    assert deleted == [f"DELETE recordings/stored/{name}" for name in (FIRST, SECOND)]


async def test_a_voicemail_is_archived_in_mono(scene: RecorderScene) -> None:
    """It is archived under its own name."""
    await scene.run(ArchiveRecordings("r9", (MESSAGE,)))
    assert scene.archiver.archived == [(f"acme/2026-11-21/{CALL}.v3.wav", 1, [MESSAGE])]


@pytest.mark.parametrize("outcome", [None, ArchiveError("archive", "away")])
async def test_nothing_is_deleted_that_is_not_archived(
    scene: RecorderScene, outcome: ArchiveError | None
) -> None:
    """The recording is lost if the PBX has no file; otherwise archiving failed for now."""
    scene.archiver.result = outcome
    await scene.run(ArchiveRecordings("r9", (FIRST,)))
    fault = "archive" if outcome else "lost"
    assert scene.done == [RecordingsArchived("r9", 0, fault)]
    assert not [each for each in scene.pbx.requests if each.startswith("DELETE")]


@pytest.mark.parametrize(
    ("name", "shown"), [(FIRST, f"channels/{LEG}"), (MESSAGE, f"recordings/live/{MESSAGE}")]
)
@pytest.mark.parametrize("status", [200, 0])
@virtual_time
async def test_a_growing_file_is_not_archived(name: str, shown: str, status: int) -> None:
    """A leg that is up is still recorded, whatever was concluded about its call."""
    scene = RecorderScene()
    scene.pbx.shows[shown] = Reply(status)
    await scene.run(ArchiveRecordings("r9", (name,)))
    (event,) = scene.done
    assert isinstance(event, RecordingsArchived)
    assert event.fault == ("busy" if status else "pbx")
    assert scene.archiver.archived == []


async def test_a_leg_that_is_listed_after_its_end_delays_archiving(scene: RecorderScene) -> None:
    """The record has the length of the recording, although the PBX lists the leg for a moment."""
    shown = f"channels/{LEG}"
    scene.pbx.shows[shown] = Reply(200)
    scene.recorder.run(ArchiveRecordings("r9", (FIRST,)), CALL, scene.done.append)
    await until(lambda: f"GET {shown}" in scene.pbx.requests, what="the look at the leg")
    del scene.pbx.shows[shown]
    await until(lambda: bool(scene.done), what="the result")
    (event,) = scene.done
    assert isinstance(event, RecordingsArchived)
    assert not event.fault


async def test_archiving_is_not_started_twice(scene: RecorderScene) -> None:
    """Neither by the same command nor by the sweeper."""
    scene.archiver.may_finish.clear()
    for _ in range(2):
        scene.recorder.run(ArchiveRecordings("r9", (FIRST,)), CALL, scene.done.append)
    await until(lambda: bool(scene.archiver.archived), what="filing to begin")
    with pytest.raises(ArchiveError, match="busy"):
        await scene.recorder.archive([FIRST])
    scene.archiver.may_finish.set()
    await until(lambda: bool(scene.done), what="filing to end")
    assert len(scene.archiver.archived) == 1


async def test_the_end_of_a_call_ends_its_retries(scene: RecorderScene) -> None:
    """An unreachable AMI gets no command for an ended leg."""
    scene.ami.responses = [AmiUnavailable("away")] * 100
    scene.recorder.run(StartRecording(LEG, FIRST), CALL, scene.done.append)
    await until(lambda: bool(scene.ami.actions), what="a try")
    await scene.run(ArchiveRecordings("r9", (FIRST,)))
    assert scene.done == [RecordingsArchived("r9", 1_200)]
