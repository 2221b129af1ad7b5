"""The engine is killed in conferences, holds and mutes: who hears whom stays, and it goes on."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, all_hear_all
from tests.live.recovery.test_sessions_killed import assert_survives

THREE = ("customer", "source", "target")
COACHED = {"customer": "source", "source": "customer target", "target": "customer source"}


async def test_a_conference_with_one_that_rings(crowd: Parties) -> None:
    """The two talk on; the third comes in when it answers."""
    await crowd.connect()
    target = await crowd.add_phone("target", picks_up=False)
    conference = Conference(crowd)
    await conference.add("target")
    await target.wait_ringing()
    await assert_survives(crowd, {"customer": "source", "source": "customer", "target": ""})
    await target.pick_up()
    await crowd.expect_audio(**all_hear_all(*THREE))
    await conference.wait_for_state("in-progress")


async def test_a_conference_with_a_coach(crowd: Parties) -> None:
    """The coach is heard by the one only, before, meanwhile and afterwards; then by all again."""
    await crowd.connect()
    await crowd.add_phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.expect_audio(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    await assert_survives(crowd, COACHED)
    await conference.coach("target", None)
    await crowd.expect_audio(**all_hear_all(*THREE))


async def test_a_conference_of_which_two_leave(crowd: Parties) -> None:
    """The main party and another hang up without an engine: the next one ends it."""
    await crowd.connect()
    await crowd.add_phone("target")
    conference = Conference(crowd)
    await conference.add("target")
    await crowd.expect_audio(**all_hear_all(*THREE))
    await crowd.lab.engine.kill()
    for name in ("customer", "source"):
        await crowd[name].hang_up()
    await crowd.lab.engine.start()
    await crowd["target"].wait_ended()
    await conference.wait_for_state("completed")


async def test_a_held_and_a_muted_leg(crowd: Parties) -> None:
    """Both stay as they are, and can be undone."""
    await crowd.connect()
    source, customer = await crowd.leg("source"), await crowd.leg("customer")
    await crowd.control("hold", channelId=customer)
    await crowd.control("mute", channelId=source)
    await assert_survives(crowd, {"customer": "music", "source": ""})
    await crowd.control("unhold", channelId=customer)
    await crowd.expect_audio(customer="", source="customer")
    await crowd.control("unmute", channelId=source)
    await crowd.expect_audio(customer="source", source="customer")


async def test_a_prompt_on_hold(crowd: Parties, sounds: MediaServer) -> None:
    """It waits for its leg, and goes on where it stopped."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, 4000)}}
    caller = await crowd.call_in(await crowd.lab.add_number(prompt))
    await crowd.expect_audio(customer="prompt")
    await crowd.control("hold", channelId=await crowd.leg("customer"))
    await assert_survives(crowd, {"customer": "music"})
    await crowd.control("unhold", channelId=await crowd.leg("customer"))
    await caller.wait_ended()
    assert abs(sum(each.length_ms for each in caller.tones_heard(1300)) - 4000) < 250
