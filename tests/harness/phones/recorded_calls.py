"""Conversations that are recorded, between phones whose tones tell them apart."""

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
    """Return where a recording is filed, by its address."""
    path = Path(str(url).removeprefix("file://"))
    assert path.is_relative_to(lab.engine.recordings)
    return path


async def wait_for_recording(lab: Lab, call: str) -> RecordingFile:
    """Wait for the end of a call, and for the recording that it tells of, which leaves the PBX."""
    await lab.wait_ended(call, timeout_s=20)
    told = await lab.engine.wait_for_event(call, "completed")
    assert told["recordingPurpose"] == "call"
    path = path_of(lab, told["recordingUrl"])
    await until(path.exists, timeout_s=20, what=f"{path} to be filed")
    await until(lambda: _is_empty(lab), what="the PBX to have nothing left of it")
    return RecordingFile(path)


async def _is_empty(lab: Lab) -> bool:
    return bool(await lab.ari("recordings/stored") == [])


def heard_ms(phone: Phone, hz: int) -> int:
    """Tell for how long a phone has heard a tone."""
    return sum(each.length_ms for each in phone.tones_heard(hz))


async def wait_until_heard(phone: Phone, hz: int, for_ms: int = 700) -> None:
    """Wait until a phone has heard the other for that much longer."""
    before = heard_ms(phone, hz)
    await until(lambda: heard_ms(phone, hz) - before >= for_ms, what=f"{hz} Hz for a while")


@asynccontextmanager
async def recorded_call(lab: Lab, **route: object) -> AsyncIterator[tuple[str, Phone, Phone]]:
    """Let a caller, who is recorded, be connected; gives the call and both phones."""
    number = await lab.add_number(DIAL, **{"recordCall": True, **route})
    async with (
        Phone.answering(lab.trunk_port, tone_hz=CALLEE_HZ, after_ms=300) as far,
        Phone.calling(lab.pbx, number, tone_hz=CALLER_HZ) as caller,
    ):
        call = await lab.wait_for_call()
        await wait_until_heard(far, CALLER_HZ)
        yield call, caller, far
