"""What the report of a failed test has of a call, read while the call has just ended."""

from pathlib import Path

import pytest

from tests.harness.evidence.plugin import COLLECTOR
from tests.harness.evidence.report import write_evidence
from tests.harness.live_lab import Lab
from tests.harness.phones.heard_file import heard_ms
from tests.harness.phones.phone import Phone

TONE_HZ = 700
MIN_HEARD_MS = 500


async def test_a_failed_test_shows_its_call(
    lab: Lab, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The timeline, the SIP of the phones, what each has heard, the engine's log, load and lag."""
    dial = {"type": "dial", "data": {"number": "+15550100"}}
    async with (
        Phone.answering(lab.trunk_port, tone_hz=TONE_HZ) as called,
        Phone.calling(lab.pbx, await lab.add_number(dial)) as caller,
    ):
        call = await lab.wait_for_call()
        await caller.until_hears(TONE_HZ)
        await caller.wait_spoken(MIN_HEARD_MS)
        await caller.hang_up()
        await called.wait_ended()
    await lab.wait_ended(call)
    collector = request.config.stash[COLLECTOR]
    sections = dict(write_evidence(collector, tmp_path / "evidence", lab.engine.folder))
    assert "calls +15550100" in sections[f"timeline of {call}"]
    heading, *messages = sections["SIP of the phones"].splitlines()
    assert heading.split() == ["PBX", called.name, caller.name]
    assert sum("  BYE sip:" in line for line in messages) == 2
    assert "rpc write" in sections["end of output.log"]
    assert "event loop of the test: at most" in sections["machine"]
    assert f"in {lab.engine.folder.name} ({lab.engine.pid}): at most" in sections["machine"]
    assert heard_ms(tmp_path / "evidence" / f"{caller.name}.wav") >= MIN_HEARD_MS
