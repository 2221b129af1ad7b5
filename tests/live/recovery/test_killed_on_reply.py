"""The engine is killed the moment it has replied: what was asked for is done all the same."""

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
    """Hold the customer, and have it back."""
    await parties.expect_audio(**await hold(parties))
    await parties.control("unhold", channelId=await parties.leg("customer"))
    return {"customer": "source", "source": "customer"}


async def mute(parties: Parties) -> dict[str, str]:
    """Mute the customer."""
    await parties.control("mute", channelId=await parties.leg("customer"))
    return {"customer": "source", "source": ""}


async def start_transfer(parties: Parties) -> dict[str, str]:
    """Begin a transfer."""
    await parties.add_phone("target", picks_up=False)
    await Transfer(parties).start()
    return RINGING


async def start_blind(parties: Parties) -> dict[str, str]:
    """Begin a blind one, to who answers."""
    await parties.add_phone("target")
    await Transfer(parties).start("blind")
    return {"customer": "target", "target": "customer"}


async def cancel(parties: Parties) -> dict[str, str]:
    """Cancel one."""
    await start_transfer(parties)
    await parties["target"].wait_ringing()
    transfer = Transfer(parties)
    transfer.id = (await parties.view())["transfers"][0]["transferSessionId"]
    await transfer.cancel()
    return {"customer": "source", "source": "customer"}


async def add(parties: Parties) -> dict[str, str]:
    """Begin a conference."""
    await parties.add_phone("target")
    await Conference(parties).add("target")
    return all_hear_all(*THREE)


async def coach(parties: Parties) -> dict[str, str]:
    """Let one coach another."""
    await parties.add_phone("target")
    conference = Conference(parties)
    await conference.add("target")
    await parties.expect_audio(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    return COACHED


async def uncoach(parties: Parties) -> dict[str, str]:
    """Let a coach be heard by all."""
    await parties.expect_audio(**await coach(parties))
    conference = Conference(parties)
    conference.id = (await parties.view())["conferences"][0]["conferenceSessionId"]
    await conference.coach("target", None)
    return all_hear_all(*THREE)


OPERATIONS = [hold, unhold, mute, start_transfer, start_blind, cancel, add, coach, uncoach]


@pytest.mark.parametrize("ask", OPERATIONS, ids=lambda ask: ask.__name__)
async def test_an_accepted_request_survives_a_crash(
    parties: Parties, ask: Callable[[Parties], Awaitable[dict[str, str]]]
) -> None:
    """What was granted is stored: the next engine does it, if this one did not."""
    await parties.connect()
    expected = await ask(parties)
    await crash(parties.lab)
    await parties.expect_audio_for(1000, expected)
