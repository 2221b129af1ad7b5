"""What tests of a phone that is registered at another node than its call's have in common."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.parties import Parties
from tests.harness.until import MAX_WAIT_S

AGENT = "1002"
OTHER = "1003"
BOTH_WAYS = pytest.mark.parametrize("home", [0, 1])  # the call's node; the phone is at the other


@asynccontextmanager
async def parties_at(two: TwoNodes, home: int) -> AsyncIterator[Parties]:
    async with Parties(two.lab(home)) as parties:
        yield parties
        await parties.hang_up()


def dial(agent: str = AGENT) -> dict[str, object]:
    return {"type": "dial", "data": {"agent_id": agent}, "timeout": MAX_WAIT_S}
