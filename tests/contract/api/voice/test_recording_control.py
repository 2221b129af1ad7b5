"""Recordings of live calls controlled over REST; `tests/live/reporting` listens to them."""

import pytest

from tests.harness.api.rest import Rest
from tests.harness.rpc.conversation import AGENT, Conversation, talking

ACTIONS = ("start", "pause", "resume", "stop")


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


def path_of(call: str, action: str) -> str:
    return f"/srmain/voice/call/{call}/recording/{action}"


@pytest.mark.parametrize("action", ACTIONS)
async def test_the_engine_decides(rest: Rest, talk: Conversation, action: str) -> None:
    """Here it has no archive, and says so; the body may repeat the call of the path."""
    path = path_of(talk.call, action)
    problem = await rest.rejected("POST", path, {"callId": talk.call})
    assert problem[:2] == (409, "no_archive")
    assert (await rest.rejected("POST", path, {"callId": "other"}))[2] == ["callId"]


@pytest.mark.parametrize("action", ACTIONS)
async def test_another_accounts_call_is_not_found(
    rest: Rest, talk: Conversation, action: str
) -> None:
    """It looks like one that never existed."""
    token = await rest.token_of("other", "other")
    for call in (talk.call, "0-pbx1-gone"):
        assert (await rest.rejected("POST", path_of(call, action), token=token))[0] == 404


async def test_an_agent_pauses_its_own_call_only(rest: Rest, talk: Conversation) -> None:
    """Whether a call is recorded at all is not the agent's choice."""
    token = await rest.token_of("acme", agentId=AGENT)
    stranger = await rest.token_of("acme", agentId="1002")
    for action in ("pause", "resume"):
        path = path_of(talk.call, action)
        assert (await rest.rejected("POST", path, token=token))[1] == "no_archive"
        assert (await rest.rejected("POST", path, token=stranger))[:2] == (404, "not_found")
    agents = await rest.token_of("1001")
    for action in ("start", "stop"):
        path = path_of(talk.call, action)
        assert (await rest.rejected("POST", path, token=agents))[:2] == (403, "scope")
