"""The engine is killed during conferences, holds and mutes, which continue unchanged."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.audio import RESUME_SLACK_MS
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, all_hear_all
from tests.live.recovery.test_sessions_killed import assert_survives

PROMPT_MS = 10_000
THREE = ("customer", "source", "target")
COACHED = {"customer": "source", "source": "customer target", "target": "customer source"}


async def test_a_conference_with_a_ringing_member_survives(parties: Parties) -> None:
    """The two talk on; the third joins when it answers."""
    await parties.connect()
    target = await parties.add_phone("target", picks_up=False)
    conference = Conference(parties)
    await conference.add("target")
    await target.wait_ringing()
    await assert_survives(parties, {"customer": "source", "source": "customer", "target": ""})
    await target.pick_up()
    await parties.expect_audio(**all_hear_all(*THREE))
    await conference.wait_for_state("in-progress")


async def test_a_conference_with_a_coach_survives(parties: Parties) -> None:
    """Only the coached member hears the coach, before and after; then all hear the coach."""
    await parties.connect()
    await parties.add_phone("target")
    conference = Conference(parties)
    await conference.add("target")
    await parties.expect_audio(**all_hear_all(*THREE))
    await conference.coach("target", "source")
    await assert_survives(parties, COACHED)
    await conference.coach("target", None)
    await parties.expect_audio(**all_hear_all(*THREE))


async def test_hangups_without_an_engine_end_the_conference(parties: Parties) -> None:
    """Main leg and another hang up without an engine; the next engine ends the conference."""
    await parties.connect()
    await parties.add_phone("target")
    conference = Conference(parties)
    await conference.add("target")
    await parties.expect_audio(**all_hear_all(*THREE))
    await parties.lab.engine.kill()
    for name in ("customer", "source"):
        await parties[name].hang_up()
    await parties.lab.engine.start()
    await parties["target"].wait_ended()
    await conference.wait_for_state("completed")


async def test_hold_and_mute_survive(parties: Parties) -> None:
    """Both states remain, and can be undone."""
    await parties.connect()
    source, customer = await parties.leg("source"), await parties.leg("customer")
    await parties.control("hold", channelId=customer)
    await parties.control("mute", channelId=source)
    await assert_survives(parties, {"customer": "music", "source": ""})
    await parties.control("unhold", channelId=customer)
    await parties.expect_audio(customer="", source="customer")
    await parties.control("unmute", channelId=source)
    await parties.expect_audio(customer="source", source="customer")


async def test_a_prompt_on_hold_survives(parties: Parties, sounds: MediaServer) -> None:
    """The prompt waits during hold and resumes where it stopped."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, PROMPT_MS)}}
    caller = await parties.call_in(await parties.lab.add_number(prompt))
    await parties.expect_audio(customer="prompt")
    await parties.control("hold", channelId=await parties.leg("customer"))
    await assert_survives(parties, {"customer": "music"})
    await parties.control("unhold", channelId=await parties.leg("customer"))
    await caller.wait_ended()
    heard_ms = sum(each.length_ms for each in caller.tones_heard(1300))
    assert abs(heard_ms - PROMPT_MS) <= RESUME_SLACK_MS
