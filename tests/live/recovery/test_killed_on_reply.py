"""The engine is killed right after its reply; accepted requests are executed anyway."""

from collections.abc import Awaitable, Callable

import pytest

from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.live.recovery.test_conferences_killed import COACHED, THREE
from tests.live.recovery.test_resilience import crash
from tests.live.recovery.test_sessions_killed import RINGING


async def hold(parties: Parties) -> dict[str, str]:
    """Hold the customer."""
    await parties.control("hold", channelId=await parties.leg("customer"))
    return {"customer": "music", "source": ""}


async def unhold(parties: Parties) -> dict[str, str]:
    """Hold and unhold the customer."""
    await parties.expect_audio(**await hold(parties))
    await parties.control("unhold", channelId=await parties.leg("customer"))
    return {"customer": "source", "source": "customer"}


async def mute(parties: Parties) -> dict[str, str]:
    """Mute the customer."""
    await parties.control("mute", channelId=await parties.leg("customer"))
    return {"customer": "source", "source": ""}


async def start_transfer(parties: Parties) -> dict[str, str]:
    """Start a transfer."""
    await parties.add_phone("target", picks_up=False)
    await Transfer(parties).start()
    return RINGING


async def start_blind(parties: Parties) -> dict[str, str]:
    """Start a blind transfer to a phone that answers."""
    await parties.add_phone("target")
    await Transfer(parties).start("blind")
    return {"customer": "target", "target": "customer"}


async def cancel(parties: Parties) -> dict[str, str]:
    """Cancel a transfer."""
    await start_transfer(parties)
    await parties["target"].wait_ringing()
    transfer = Transfer(parties)
    transfer.id = (await parties.view())["transfers"][0]["transferSessionId"]
    await transfer.cancel()
    return {"customer": "source", "source": "customer"}


async def add(parties: Parties) -> dict[str, str]:
    """Start a conference."""
    await parties.add_phone("target")
    await Conference(parties).add("target")
    return all_hear_all(*THREE)


async def coach(parties: Parties) -> dict[str, str]:
    """Let one member coach another."""
    await parties.add_phone("target")
    conference = Conference(parties)
    await conference.add("target")
    await parties.expect_audio(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    return COACHED


async def uncoach(parties: Parties) -> dict[str, str]:
    """End a coaching."""
    await parties.expect_audio(**await coach(parties))
    conference = Conference(parties)
    conference.id = (await parties.view())["conferences"][0]["conferenceSessionId"]
    await conference.coach("target", None)
    return all_hear_all(*THREE)


OPERATIONS = [hold, unhold, mute, start_transfer, start_blind, cancel, add, coach, uncoach]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
async def test_an_accepted_request_survives_a_crash(
    parties: Parties, operation: Callable[[Parties], Awaitable[dict[str, str]]]
) -> None:
    """Accepted requests are stored, so the next engine executes them."""
    await parties.connect()
    expected = await operation(parties)
    await crash(parties.lab)
    await parties.expect_audio_for(1000, expected)
