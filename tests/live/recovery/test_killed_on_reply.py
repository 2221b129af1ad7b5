"""The engine is killed the moment it has replied: what was asked for is done all the same."""

from collections.abc import Awaitable, Callable

import pytest

from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, Transfer, all_hear_all
from tests.live.recovery.test_conferences_killed import COACHED, THREE
from tests.live.recovery.test_resilience import crash
from tests.live.recovery.test_sessions_killed import RINGING


async def hold(crowd: Parties) -> dict[str, str]:
    """Hold the customer."""
    await crowd.control("hold", channelId=await crowd.leg("customer"))
    return {"customer": "music", "source": ""}


async def unhold(crowd: Parties) -> dict[str, str]:
    """Hold the customer, and have it back."""
    await crowd.expect_audio(**await hold(crowd))
    await crowd.control("unhold", channelId=await crowd.leg("customer"))
    return {"customer": "source", "source": "customer"}


async def mute(crowd: Parties) -> dict[str, str]:
    """Mute the customer."""
    await crowd.control("mute", channelId=await crowd.leg("customer"))
    return {"customer": "source", "source": ""}


async def start_transfer(crowd: Parties) -> dict[str, str]:
    """Begin a transfer."""
    await crowd.add_phone("target", picks_up=False)
    await Transfer(crowd).start()
    return RINGING


async def start_blind(crowd: Parties) -> dict[str, str]:
    """Begin a blind one, to who answers."""
    await crowd.add_phone("target")
    await Transfer(crowd).start("blind")
    return {"customer": "target", "target": "customer"}


async def cancel(crowd: Parties) -> dict[str, str]:
    """Cancel one."""
    await start_transfer(crowd)
    await crowd["target"].wait_ringing()
    begun = Transfer(crowd)
    begun.id = (await crowd.view())["transfers"][0]["transferSessionId"]
    await begun.cancel()
    return {"customer": "source", "source": "customer"}


async def add(crowd: Parties) -> dict[str, str]:
    """Begin a conference."""
    await crowd.add_phone("target")
    await Conference(crowd).add("target")
    return all_hear_all(*THREE)


async def coach(crowd: Parties) -> dict[str, str]:
    """Let one coach another."""
    await crowd.add_phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.expect_audio(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    return COACHED


async def uncoach(crowd: Parties) -> dict[str, str]:
    """Let a coach be heard by all."""
    await crowd.expect_audio(**await coach(crowd))
    conference = Conference(crowd)
    conference.id = (await crowd.view())["conferences"][0]["conferenceSessionId"]
    await conference.coach("target", None)
    return all_hear_all(*THREE)


OPERATIONS = [hold, unhold, mute, start_transfer, start_blind, cancel, add, coach, uncoach]


@pytest.mark.parametrize("ask", OPERATIONS, ids=lambda ask: ask.__name__)
async def test_the_moment_it_has_replied(
    crowd: Parties, ask: Callable[[Parties], Awaitable[dict[str, str]]]
) -> None:
    """What was granted is stored: the next engine does it, if this one did not."""
    await crowd.connect()
    expected = await ask(crowd)
    await crash(crowd.lab)
    await crowd.expect_audio_for(1000, expected)
