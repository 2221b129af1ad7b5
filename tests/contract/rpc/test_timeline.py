"""The timeline over the RPC: commands and session states."""

from typing import Any

from tests.contract.rpc.harness.bench import Bench
from tests.contract.rpc.harness.conversation import talking


async def test_sessions_show_their_states(bench: Bench) -> None:
    """Of the emitted events, the timeline has session states only."""
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
