"""The story of a steered call over the RPC: the states of its sessions among what it did."""

from typing import Any

from tests.contract.rpc.harness.bench import Bench
from tests.contract.rpc.harness.conversation import talking


async def test_sessions_tell_their_states(bench: Bench) -> None:
    """Of what is told to the outside, the timeline has the states of sessions alone."""
    conversation = await talking(bench)
    await conversation.posted("hold", channelId=conversation.customer)
    await conversation.posted(
        "conference/members", requestedByAgentId="1001", targetExternalNumber="+4721930000"
    )
    result = _told(await conversation.shown("/timeline"))
    assert [(each["event"], each["sessionState"]) for each in result] == [
        ("conference", "init"),
        ("conference-member", "queued"),
    ]


async def test_the_main_channel_is_shown(bench: Bench) -> None:
    """A call says which leg its tree runs on."""
    conversation = await talking(bench)
    assert (await conversation.shown())["mainChannelId"] == conversation.customer


def _told(story: Any) -> list[dict[str, Any]]:
    commands = [each for moment in story["moments"] for each in moment["commands"]]
    return [each["event"] for each in commands if each["type"] == "emit-event"]
