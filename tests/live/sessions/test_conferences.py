"""Conferences on real calls: who hears whom as members join, leave and are controlled."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Conference, all_hear_all
from tests.harness.servers.engine import RequestError

FOUR = ("customer", "source", "target", "fourth")


@pytest.fixture
async def conference(parties: Parties, hooks: WebhookServer) -> Conference:
    """Connect four members; the action after the dial is /after, which ends the call."""
    await parties.connect(hooks.answers("/after", None))
    conference = Conference(parties)
    for name in FOUR[2:]:
        await parties.add_phone(name)
        await conference.add(name)
    await parties.expect_audio(**all_hear_all(*FOUR))
    return conference


async def test_four_members_hear_one_another(parties: Parties, conference: Conference) -> None:
    """Each member hears all others, and the view lists them as connected."""
    await conference.wait_for_state("in-progress")
    members = (await conference.view())["members"]
    assert [each["state"] for each in members] == ["connected"] * 4
    assert [each.get("agent_id") for each in members] == [None, "ada", None, None]


async def test_a_new_member_is_heard_after_the_answer(parties: Parties) -> None:
    """While the third party rings, two talk on; a repeated request does not call it twice."""
    await parties.connect()
    target = await parties.add_phone("target", picks_up=False)
    conference = Conference(parties)
    first = await conference.add("target")
    await target.wait_ringing()
    assert (await conference.add("target"))["conferenceSessionId"] == conference.id
    assert len(first["members"]) == 3
    await parties.expect_audio(customer="source", source="customer", target="")
    await target.pick_up()
    await parties.expect_audio(**all_hear_all(*FOUR[:3]))
    assert [m.method for m in target.messages if not m.status].count("INVITE") == 1


@pytest.mark.parametrize("name", ["target", "source"])
async def test_a_kicked_member_is_hung_up(
    parties: Parties, conference: Conference, name: str
) -> None:
    """The kicked member is hung up, and the others continue."""
    view = await conference.kick(name)
    assert next(m for m in view["members"] if m["state"] == "complete")["reason"] == "kicked"
    await parties[name].wait_ended()
    await parties.expect_audio(**all_hear_all(*(each for each in FOUR if each != name)))


async def test_a_leaving_member_is_hung_up(parties: Parties, conference: Conference) -> None:
    """A leaving member is hung up; with two left, the conversation continues."""
    await conference.leave("fourth")
    await parties["fourth"].wait_ended()
    await parties.expect_audio(**all_hear_all(*FOUR[:3]))
    await parties["target"].hang_up()
    await parties.expect_audio(customer="source", source="customer")


async def test_the_last_member_continues_with_the_tree(
    parties: Parties, conference: Conference, hooks: WebhookServer
) -> None:
    """The conference is completed, and the dial's action runs on the customer."""
    for name in FOUR[1:]:
        await parties[name].hang_up()
    await conference.wait_for_state("completed")
    assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "completed"
    await parties["customer"].wait_ended()


async def test_the_conference_continues_without_the_main_leg(
    parties: Parties, conference: Conference
) -> None:
    """The others continue without the customer; the last one is hung up."""
    await parties["customer"].hang_up()
    await parties.expect_audio(**all_hear_all(*FOUR[1:]))
    await conference.kick("fourth")
    await parties.expect_audio(source="target", target="source")
    await parties["source"].hang_up()
    await parties["target"].wait_ended()
    await conference.wait_for_state("completed")


async def test_a_muted_member_is_not_heard(parties: Parties, conference: Conference) -> None:
    """Muted inbound: hears all, not heard; muted outbound: heard by all, hears nothing."""
    leg = await parties.leg("target")
    await parties.control("mute", channelId=leg)
    await parties.expect_audio(**all_hear_all(*FOUR, silent="target"))
    await parties.control("mute", channelId=leg, direction="out")
    await parties.expect_audio(**all_hear_all(*FOUR) | {"target": ""})
    await parties.control("unmute", channelId=leg)
    await parties.expect_audio(**all_hear_all(*FOUR))


async def test_a_held_member_hears_music(parties: Parties, conference: Conference) -> None:
    """A held member hears music, and the others hear one another."""
    leg = await parties.leg("target")
    await parties.control("hold", channelId=leg)
    await parties.expect_audio(**all_hear_all("customer", "source", "fourth"), target="music")
    await parties.control("unhold", channelId=leg)
    await parties.expect_audio(**all_hear_all(*FOUR))


async def test_only_the_coached_member_hears_the_coach(
    parties: Parties, conference: Conference
) -> None:
    """Only the coached member hears the coach, who hears all; then all hear the coach again."""
    for _ in range(2):
        await conference.coach("fourth", "source")
        await parties.expect_audio(
            **all_hear_all(*FOUR, silent="fourth") | {"source": "customer target fourth"}
        )
    await conference.coach("fourth", "target")
    await parties.expect_audio(
        **all_hear_all(*FOUR, silent="fourth") | {"target": "customer source fourth"}
    )
    for _ in range(2):
        await conference.coach("fourth", None)
        await parties.expect_audio(**all_hear_all(*FOUR))


async def test_the_coach_is_heard_after_a_hold_by_phone(
    parties: Parties, conference: Conference
) -> None:
    """While the third phone holds, the others talk directly; then the coach is apart again."""
    await parties["fourth"].hang_up()
    await conference.coach("target", "customer")
    apart = {"source": "customer", "customer": "source target", "target": "customer source"}
    await parties.expect_audio(**apart)
    await parties["source"].hold()
    await parties.expect_audio(customer="target", target="customer")
    await parties["source"].resume()
    await parties.expect_audio(**apart)


async def test_a_coach_stays_muted_when_the_coached_member_leaves(
    parties: Parties, conference: Conference
) -> None:
    """The coach hears the others, and is not heard until it is unmuted."""
    await conference.coach("fourth", "source")
    await parties.expect_audio(customer="source target", source="customer target fourth")
    await parties["source"].hang_up()
    await parties.expect_audio(customer="target", target="customer", fourth="customer target")
    await parties.control("unmute", channelId=await parties.leg("fourth"))
    await parties.expect_audio(**all_hear_all("customer", "target", "fourth"))


async def test_the_others_continue_when_the_coach_leaves(
    parties: Parties, conference: Conference
) -> None:
    """The others still hear one another."""
    await conference.coach("fourth", "source")
    await parties.expect_audio(customer="source target", source="customer target fourth")
    await parties["fourth"].hang_up()
    await parties.expect_audio(**all_hear_all(*FOUR[:3]))


async def test_a_coach_cannot_be_coached(parties: Parties, conference: Conference) -> None:
    """The request is refused, and nothing changes."""
    await conference.coach("fourth", "source")
    with pytest.raises(RequestError) as refused:
        await conference.coach("target", "fourth")
    assert refused.value.problem["code"] == "coach_of_a_coach"
    await parties.expect_audio(
        **all_hear_all(*FOUR, silent="fourth") | {"source": "customer target fourth"}
    )


@pytest.mark.parametrize("song", [False, True])
async def test_the_customer_hears_music_until_the_next_member_answers(
    parties: Parties, sounds: MediaServer, song: bool
) -> None:
    """The source leaves while the target rings; the customer hears music until the answer."""
    await parties.connect()
    target = await parties.add_phone("target", picks_up=False)
    conference = Conference(parties)
    await conference.add("target", mohAudioUrl=sounds.tone(1550, 500) if song else None)
    await target.wait_ringing()
    await parties["source"].hang_up()
    await parties.expect_audio_for(1000, {"customer": "song" if song else "music"})
    await target.pick_up()
    await parties.expect_audio(customer="target", target="customer")


async def test_a_conference_without_a_new_member_is_completed(parties: Parties) -> None:
    """The two continue, and the conference is completed."""
    await parties.connect()
    await parties.add_refusing("target", 486)
    conference = Conference(parties)
    await conference.add("target")
    await conference.wait_for_state("completed")
    assert (await conference.view())["members"][2]["reason"] == "busy"
    await parties.expect_audio(customer="source", source="customer")
