"""What tests of a phone that is registered at another node than its call's have in common."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.parties import Parties
from tests.harness.phones.registration import register
from tests.harness.ports import free_port

AGENT = "1002"
OTHER = "1003"
BOTH_WAYS = pytest.mark.parametrize("home", [0, 1])  # the call's node; the phone is at the other


async def unregister_phones(two: TwoNodes) -> None:
    for pbx in two.nodes:
        for agent in (AGENT, OTHER):
            await register(pbx, agent, free_port(), 0)


@asynccontextmanager
async def parties_at(two: TwoNodes, home: int) -> AsyncIterator[Parties]:
    async with Parties(two.lab(home)) as parties:
        yield parties
        await parties.hang_up()


def dial(agent: str = AGENT) -> dict[str, object]:
    return {"type": "dial", "data": {"agent_id": agent}, "timeout": 10}
