"""The media cache of a real PBX, bounded by the sweeper beside it."""

import asyncio
import os
import sys
import time
from pathlib import Path

from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import PREPARE
from tests.harness.phones.phone import Phone
from tests.harness.until import until

SWEEPER = PREPARE.with_name("sweep_media.py")
DAYS_S = 2 * 86_400


async def test_old_prompts_leave_the_cache(lab: Lab, sounds: MediaServer) -> None:
    """A prompt that was not played for a day is deleted with its file, and fetched when needed."""
    number = await lab.add_number({"type": "play", "data": {"audioUrl": sounds.tone(440, 400)}})
    before = _files(lab)  # of other tests
    await _hear(lab, number)
    (file,) = _files(lab) - before
    os.utime(file, (time.time() - DAYS_S, time.time() - DAYS_S))
    running = await asyncio.create_subprocess_exec(sys.executable, SWEEPER, lab.pbx.run_dir)
    try:
        await until(lambda: not file.exists(), what="the file to be deleted")
    finally:
        running.terminate()
        await running.wait()
    assert file.name not in await lab.pbx.cli("media cache show all")
    await _hear(lab, number)
    assert len(_files(lab) - before) == 1


async def _hear(lab: Lab, number: str) -> None:
    async with Phone.calling(lab.pbx, number) as caller:
        await caller.until_heard(440)
        await caller.wait_ended()


def _files(lab: Lab) -> set[Path]:
    return set(lab.pbx.run_dir.glob("bucket-*.wav"))
