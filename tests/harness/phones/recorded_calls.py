"""Recorded conversations between phones with different tones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.recording_file import RecordingFile
from tests.harness.until import until

DIAL = {"type": "dial", "data": {"number": "+4722222222", "moh": {"enable": False}}}
CALLER_HZ, CALLEE_HZ = 400, 600


def path_of(lab: Lab, url: object) -> Path:
    """Return the path of an archived recording, given its address."""
    path = Path(str(url).removeprefix("file://"))
    assert path.is_relative_to(lab.engine.recordings)
    return path


async def wait_for_recording(lab: Lab, call: str) -> RecordingFile:
    """Wait until a call has ended and its recording is archived and deleted from the PBX."""
    await lab.wait_ended(call)
    event = await lab.engine.wait_for_event(call, "completed")
    assert event["recordingPurpose"] == "call"
    path = path_of(lab, event["recordingUrl"])
    await until(path.exists, what=f"{path} to be archived")
    await until(lambda: _is_empty(lab), what="the PBX to delete the recording")
    return RecordingFile(path)


async def _is_empty(lab: Lab) -> bool:
    return bool(await lab.ari("recordings/stored") == [])


def heard_ms(phone: Phone, hz: int) -> int:
    """Return for how long a phone has heard a tone."""
    return sum(each.length_ms for each in phone.tones_heard(hz))


async def wait_until_heard(phone: Phone, hz: int, for_ms: int = 700) -> None:
    """Wait until a phone has heard a tone for this much longer."""
    before = heard_ms(phone, hz)
    await until(lambda: heard_ms(phone, hz) - before >= for_ms, what=f"{for_ms} ms of {hz} Hz")


@asynccontextmanager
async def recorded_call(lab: Lab, **route: object) -> AsyncIterator[tuple[str, Phone, Phone]]:
    """Connect a caller in a recorded call; yields the call id and both phones."""
    number = await lab.add_number(DIAL, **{"recordCall": True, **route})
    async with (
        Phone.answering(lab.trunk_port, tone_hz=CALLEE_HZ, after_ms=1_000) as far,
        Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller,
    ):
        call = await lab.wait_for_call()
        await wait_until_heard(far, CALLER_HZ)
        yield call, caller, far
