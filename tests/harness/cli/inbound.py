"""The timeline of a recorded demo call and its ladder diagram."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from wire.views import Timeline

INBOUND = Path(__file__).with_name("inbound.json")
GOLDEN = Path(__file__).with_name("inbound.txt")


def timeline() -> Timeline:
    """Read the call: prompt, digits, webhook, dial, goodbye."""
    return msgspec.json.decode(INBOUND.read_bytes(), type=Timeline)


def until_now(whole: Timeline, moments: int) -> Timeline:
    """Give a call as it was after so many moments."""
    live = replace(whole.call, ended_ms=0, status="in-progress", state="playing")
    return Timeline(live, whole.moments[:moments])
