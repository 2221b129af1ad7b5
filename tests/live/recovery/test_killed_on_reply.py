"""The engine is killed the moment it has replied: what was asked for is done all the same."""

from collections.abc import Awaitable, Callable

import pytest

from tests.harness.phones.parties import Crowd
from tests.harness.phones.requests import Conference, Transfer, among
from tests.live.recovery.test_conferences_killed import COACHED, THREE
from tests.live.recovery.test_resilience import crash
from tests.live.recovery.test_sessions_killed import RINGING


async def hold(crowd: Crowd) -> dict[str, str]:
    """Hold the customer."""
    await crowd.steer("hold", channelId=await crowd.leg("customer"))
    return {"customer": "music", "source": ""}


async def unhold(crowd: Crowd) -> dict[str, str]:
    """Hold the customer, and have it back."""
    await crowd.hear(**await hold(crowd))
    await crowd.steer("unhold", channelId=await crowd.leg("customer"))
    return {"customer": "source", "source": "customer"}


async def mute(crowd: Crowd) -> dict[str, str]:
    """Mute the customer."""
    await crowd.steer("mute", channelId=await crowd.leg("customer"))
    return {"customer": "source", "source": ""}


async def transfer(crowd: Crowd) -> dict[str, str]:
    """Begin a transfer."""
    await crowd.phone("target", picks_up=False)
    await Transfer(crowd).start()
    return RINGING


async def blind(crowd: Crowd) -> dict[str, str]:
    """Begin a blind one, to who answers."""
    await crowd.phone("target")
    await Transfer(crowd).start("blind")
    return {"customer": "target", "target": "customer"}


async def cancel(crowd: Crowd) -> dict[str, str]:
    """Cancel one."""
    await transfer(crowd)
    await crowd["target"].rung()
    begun = Transfer(crowd)
    begun.id = (await crowd.view())["transfers"][0]["transferSessionId"]
    await begun.cancel()
    return {"customer": "source", "source": "customer"}


async def add(crowd: Crowd) -> dict[str, str]:
    """Begin a conference."""
    await crowd.phone("target")
    await Conference(crowd).add("target")
    return among(*THREE)


async def coach(crowd: Crowd) -> dict[str, str]:
    """Let one coach another."""
    await crowd.phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.hear(**among(*THREE))
    await conference.coach("target", "source")
    return COACHED


async def uncoach(crowd: Crowd) -> dict[str, str]:
    """Let a coach be heard by all."""
    await crowd.hear(**await coach(crowd))
    conference = Conference(crowd)
    conference.id = (await crowd.view())["conferences"][0]["conferenceSessionId"]
    await conference.coach("target", None)
    return among(*THREE)


ASKED = [hold, unhold, mute, transfer, blind, cancel, add, coach, uncoach]


@pytest.mark.parametrize("ask", ASKED, ids=lambda ask: ask.__name__)
async def test_the_moment_it_has_replied(
    crowd: Crowd, ask: Callable[[Crowd], Awaitable[dict[str, str]]]
) -> None:
    """What was granted is stored: the next engine does it, if this one did not."""
    await crowd.talk()
    expected = await ask(crowd)
    await crash(crowd.lab)
    await crowd.hear_for(1000, expected)
