"""The caller of the tutorial, who presses a key: docs/examples/caller.xml."""

import asyncio
from pathlib import Path

from tests.harness.live_lab import Lab
from tests.harness.ports import free_port, media_port

SCENARIO = Path(__file__).parents[3] / "docs" / "examples" / "caller.xml"
GATHER = {
    "type": "gather",
    "data": {"text": "Press a key.", "maxDigits": 1},
    "action": {"type": "say", "data": {"text": "Thank you."}},
}


async def test_the_caller_of_the_guide_presses_a_key(lab: Lab, tmp_path: Path) -> None:
    """SIPp alone calls a number, presses the key while the call gathers, and hears it end."""
    number = await lab.add_number(GATHER)
    process = await asyncio.create_subprocess_exec(
        *("sipp", "-sf", str(SCENARIO), "-key", "digit", "7", f"127.0.0.1:{lab.pbx.sip_port}"),
        *("-s", number, "-i", "127.0.0.1", "-p", str(free_port()), "-mp", str(media_port())),
        *("-m", "1", "-nostdin", "-timeout", "40s", "-timeout_error"),
        stdout=asyncio.subprocess.DEVNULL,
        cwd=tmp_path,
    )
    call = await lab.wait_for_call()
    ended = await lab.wait_ended(call)
    assert await process.wait() == 0
    assert ended["status"] == "completed"
    events = await lab.timeline_events(call)
    assert [each["digit"] for each in events if each["type"] == "digit-pressed"] == ["7"]
