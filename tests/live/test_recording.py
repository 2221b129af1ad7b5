"""Recordings on real lines: who is heard on which side, and that none is lost."""

import wave
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.audio import HEARD, Samples, level
from tests.harness.live import Lab
from tests.harness.phone import Phone
from tests.harness.until import until

Span = tuple[int, int]
LEFT, RIGHT = 0, 1
STEP_MS = 100  # whole periods of every tone
OTHERS = {400, 440, 480, 600, 700, 900}  # 440 and 480 ring


class Recording:
    """A stereo file: left what the leg said, right what it heard."""

    def __init__(self, path: Path) -> None:
        with wave.open(str(path)) as file:
            self.channels = file.getnchannels()
            assert (file.getsampwidth(), file.getframerate()) == (2, 8000)
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        self.sides: list[Samples] = [samples[n :: self.channels] for n in range(self.channels)]
        self.length_ms = len(self.sides[0]) // 8

    def spans(self, side: int, hz: int) -> list[Span]:
        """Say from when to when a tone is what is heard on a side, in steps of 100 ms."""
        samples, found = self.sides[side], list[Span]()
        for at_ms in range(0, self.length_ms - STEP_MS + 1, STEP_MS):
            heard = samples[at_ms * 8 : (at_ms + STEP_MS) * 8]
            if level(heard, hz) < HEARD or any(
                level(heard, each) > HEARD for each in OTHERS - {hz}
            ):
                continue
            if found and found[-1][1] == at_ms:
                found[-1] = (found[-1][0], at_ms + STEP_MS)
            else:
                found.append((at_ms, at_ms + STEP_MS))
        return found

    def heard_ms(self, side: int, hz: int) -> int:
        """Say for how long a tone is what is heard on a side."""
        return sum(end - begin for begin, end in self.spans(side, hz))


def recording(lab: Lab, url: object) -> Recording:
    """Open a recording that has been filed, by its address."""
    path = Path(str(url).removeprefix("file://"))
    assert path.is_relative_to(lab.engine.recordings)
    return Recording(path)


async def completed(lab: Lab, call: str) -> Mapping[str, Any]:
    """Wait for the end of a call, and give the event that told it."""
    await lab.ended(call)
    return await lab.engine.told(call, "completed")


async def talked(phone: Phone, hz: int, for_ms: int = 700) -> None:
    """Wait until a phone has heard the other for so long."""
    await until(
        lambda: sum(each.length_ms for each in phone.heard(hz)) >= for_ms,
        what=f"{hz} Hz for a while",
    )


async def test_both_sides_of_a_call_are_recorded_apart(lab: Lab) -> None:
    """recordCall: the caller is on the left, what it hears on the right, from the answer on."""
    number = await lab.number({"type": "dial", "data": {"number": "+4722222222"}}, recordCall=True)
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, after_ms=500) as far,
        Phone.calling(lab.pbx, number, tone_hz=400) as caller,
    ):
        call = await lab.only_call()
        await talked(far, 400)
        await caller.hang_up()
        told = await completed(lab, call)
    assert told["recordingPurpose"] == "call"
    found = recording(lab, told["recordingUrl"])
    assert found.channels == 2
    assert found.heard_ms(LEFT, 400) >= found.length_ms - 2 * STEP_MS
    assert found.heard_ms(RIGHT, 440) == 0, "the ring tone is two tones"
    assert found.heard_ms(RIGHT, 600) >= 500
    assert found.heard_ms(LEFT, 600) == found.heard_ms(RIGHT, 400) == 0
    assert found.length_ms == approx(told["recordingDuration"] * 1000, abs=1000)
    assert await lab.ari("recordings/stored") == [], "nothing stays on the PBX"
