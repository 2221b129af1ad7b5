"""Recordings survive failures of the engine, of all parties and of the archive."""

from tests.harness.live_lab import Lab
from tests.harness.phones.recorded_calls import (
    CALLER_HZ,
    heard_ms,
    recorded_call,
    wait_for_recording,
    wait_until_heard,
)
from tests.harness.phones.recording_file import LEFT, STEP_MS
from tests.harness.until import until

EDGES_MS = 3 * STEP_MS  # steps of the file that are not all tone


async def test_a_recording_survives_the_death_of_its_engine(lab: Lab) -> None:
    """SIGKILL during a call: the PBX records on, and the next engine archives all of it."""
    async with recorded_call(lab) as (call, caller, far):
        before_ms = heard_ms(far, CALLER_HZ)
        await lab.engine.kill()
        await wait_until_heard(far, CALLER_HZ, 1_000)
        await lab.engine.start()
        await until(lambda: _is_live(lab, call), what="the call to be live again")
        await wait_until_heard(far, CALLER_HZ)
        talked_ms = heard_ms(far, CALLER_HZ)
        await caller.hang_up()
        found = await wait_for_recording(lab, call)
    assert talked_ms - before_ms > 1_500
    spoken = found.spans(LEFT, CALLER_HZ)
    assert spoken[-1][1] - spoken[0][0] >= talked_ms
    assert found.heard_ms(LEFT, CALLER_HZ) >= talked_ms - EDGES_MS


async def _is_live(lab: Lab, call: str) -> bool:
    calls = (await lab.engine.rpc("GET", "/calls"))["calls"]
    return call in {each["callId"] for each in calls}


async def test_a_recording_that_ends_without_an_engine_is_archived(lab: Lab) -> None:
    """All parties hang up without an engine; the next one finds the recording on the PBX."""
    async with recorded_call(lab) as (call, caller, far):
        await lab.engine.kill()
        await caller.hang_up()
        await far.hang_up()
        await lab.engine.start()
        found = await wait_for_recording(lab, call)
    assert found.heard_ms(LEFT, CALLER_HZ) >= 700


async def test_a_recording_waits_for_an_unavailable_archive(lab: Lab) -> None:
    """The call ends with the address; the recording is archived when the archive is back."""
    archive = lab.engine.recordings
    async with recorded_call(lab) as (call, caller, _far):
        elsewhere = archive.rename(archive.with_name("elsewhere"))
        archive.touch()  # a file instead of the folder makes archiving fail
        await caller.hang_up()
        await lab.wait_ended(call)
        result = await lab.engine.wait_for_event(call, "completed")
        assert "recordingUrl" in result
        assert "recordingDuration" not in result
        assert len(await lab.ari("recordings/stored")) == 1
        archive.unlink()
        elsewhere.rename(archive)
        found = await wait_for_recording(lab, call)
    assert found.heard_ms(LEFT, CALLER_HZ) >= 700


async def test_a_crash_during_archiving_is_recovered(lab: Lab) -> None:
    """SIGKILL at the end of a call, several times: the archived file is complete."""
    for _ in range(3):
        async with recorded_call(lab) as (call, caller, _far):
            await caller.hang_up()
            await lab.engine.kill()
            await lab.engine.start()
            found = await wait_for_recording(lab, call)
        assert found.heard_ms(LEFT, CALLER_HZ) >= 700
