"""The engine is killed in conferences, holds and mutes: who hears whom stays, and it goes on."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, all_hear_all
from tests.live.recovery.test_sessions_killed import assert_survives

THREE = ("customer", "source", "target")
COACHED = {"customer": "source", "source": "customer target", "target": "customer source"}


async def test_a_conference_with_one_that_rings(crowd: Parties) -> None:
    """The two talk on; the third comes in when it answers."""
    await crowd.talk()
    target = await crowd.phone("target", picks_up=False)
    conference = Conference(crowd)
    await conference.add("target")
    await target.rung()
    await assert_survives(crowd, {"customer": "source", "source": "customer", "target": ""})
    await target.pick_up()
    await crowd.hear(**all_hear_all(*THREE))
    await conference.becomes("in-progress")


async def test_a_conference_with_a_coach(crowd: Parties) -> None:
    """The coach is heard by the one only, before, meanwhile and afterwards; then by all again."""
    await crowd.talk()
    await crowd.phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.hear(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    await assert_survives(crowd, COACHED)
    await conference.coach("target", None)
    await crowd.hear(**all_hear_all(*THREE))


async def test_a_conference_of_which_two_leave(crowd: Parties) -> None:
    """The main party and another hang up without an engine: the next one ends it."""
    await crowd.talk()
    await crowd.phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.hear(**all_hear_all(*THREE))
    await crowd.lab.engine.kill()
    for name in ("customer", "source"):
        await crowd[name].hang_up()
    await crowd.lab.engine.start()
    await crowd["target"].ended()
    await conference.becomes("completed")


async def test_a_held_and_a_muted_leg(crowd: Parties) -> None:
    """Both stay as they are, and can be undone."""
    await crowd.talk()
    source, customer = await crowd.leg("source"), await crowd.leg("customer")
    await crowd.steer("hold", channelId=customer)
    await crowd.steer("mute", channelId=source)
    await assert_survives(crowd, {"customer": "music", "source": ""})
    await crowd.steer("unhold", channelId=customer)
    await crowd.hear(customer="", source="customer")
    await crowd.steer("unmute", channelId=source)
    await crowd.hear(customer="source", source="customer")


async def test_a_prompt_on_hold(crowd: Parties, sounds: MediaServer) -> None:
    """It waits for its leg, and goes on where it stopped."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, 4000)}}
    caller = await crowd.caller(await crowd.lab.number(prompt))
    await crowd.hear(customer="prompt")
    await crowd.steer("hold", channelId=await crowd.leg("customer"))
    await assert_survives(crowd, {"customer": "music"})
    await crowd.steer("unhold", channelId=await crowd.leg("customer"))
    await caller.ended()
    assert abs(sum(each.length_ms for each in caller.heard(1300)) - 4000) < 250
