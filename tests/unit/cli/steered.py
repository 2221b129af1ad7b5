"""A call that people steer, as an engine shows it, and the command typed against it."""

import asyncio
import os
import sys
from pathlib import Path

from engine.__main__ import app
from tests.unit.cli.fake_engine import TOKEN
from wire.control import ConferenceView, MemberView, TransferView
from wire.views import CallView, LegView, RecordingView

ROOT = Path(__file__).parents[3]
ID = "3-pbx1-abcdefgh"
MAIN, ADA, PHONE = "pbx1-17.0", f"{ID}.l0", f"{ID}.l12"
CONFERENCE, FIRST, SECOND = f"{ID}.f2", f"{ID}.t1", f"{ID}.t3"


def transfer(session: str, state: str) -> TransferView:
    """Show a transfer of the customer."""
    return TransferView(session, ID, "attended", state, "agent:1002", ADA, MAIN, f"{ID}.l4")


CALL = CallView(
    call_id=ID,
    account="acme",
    node="pbx1",
    slot=3,
    direction="inbound",
    from_="+15550077",
    to="+15550100",
    status="in-progress",
    state="bridged",
    verb="dial",
    created_ms=1,
    main_channel_id=MAIN,
    legs=(
        LegView(MAIN, "+15550077", "up", held=True),
        LegView(ADA, "agent:1001", "up", agent_id="ada", muted="in", answered_by="human"),
        LegView(PHONE, "sip:desk@10.0.0.1:5062", "ringing"),
    ),
    transfers=(transfer(FIRST, "canceled"), transfer(SECOND, "ringback")),
    conferences=(
        ConferenceView(
            CONFERENCE,
            ID,
            "in-progress",
            (
                MemberView(MAIN, "+15550077", "connected", held=True),
                MemberView(ADA, "agent:1001", "connected", "ada", "[Ada]", coaches=MAIN),
                MemberView(PHONE, "sip:desk@10.0.0.1:5062", "complete", reason="kicked"),
            ),
        ),
    ),
    recordings=(RecordingView("https://archive.example/x.wav", "call", "filed", 6300),),
)


async def typed(url: str, *words: str) -> int:
    """Run the command in this process, which is quick; returns its exit status."""
    try:
        await asyncio.to_thread(app, [*words, "--url", url, "--token", TOKEN])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


async def switchroom(folder: Path, url: str, *typed: str) -> tuple[int, str, str]:
    """Run the command in an empty folder; returns its exit status and what it printed."""
    env = {**os.environ, "SWITCHROOM_RPC_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine", *typed, "--url", url),
        cwd=folder,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()
