"""Softphones of others (baresip) at both nodes: registration, calls between nodes."""

import pytest

from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.phones.softphone import Softphone

AGENT = "1002"


@pytest.mark.parametrize("registrar", [0, 1])
@pytest.mark.parametrize("home", [0, 1])
async def test_a_softphone_is_reached_from_both_nodes(
    two: TwoNodes, home: int, registrar: int
) -> None:
    """Whichever node it is registered at; the caller hears it, and the call ends with it."""
    tone_hz = TONES_HZ["source"]
    async with (
        Softphone.agent(two.nodes[registrar], AGENT, tone_hz=tone_hz) as softphone,
        Parties(two.lab(home)) as parties,
    ):
        dial = {"type": "dial", "data": {"agent_id": AGENT}, "timeout": 10}
        await parties.call_in(await parties.lab.add_number(dial))
        await parties.expect_audio(customer="source")
        softphone.command("hangup")
        await parties.lab.wait_ended(parties.call)
        ended = await two.engine.wait_for_event(parties.call, "leg-completed")
        assert (ended["agent_id"], ended["hangupCause"]) == (AGENT, 16)
