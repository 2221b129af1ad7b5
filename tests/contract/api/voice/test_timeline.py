"""A call's timeline over REST: what a customer sees of it, and of whose calls."""

from collections.abc import AsyncIterator
from typing import Any, get_args

import msgspec
import pytest
from aiohttp import web

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from api.voice.timeline import (
    EXCHANGES,
    INTERNAL_COMMANDS,
    INTERNAL_EVENTS,
    INTERNAL_FIELDS,
    call_timeline,
)
from engine.calls.model.commands import Command
from engine.calls.model.events import ClockChanged, Event
from engine.calls.model.io_commands import IoCommand
from engine.calls.model.io_results import ActionFailed
from engine.calls.model.requests import (
    ForkRequested,
    HoldRequested,
    StreamTextRequested,
    TransferRequested,
)
from engine.calls.model.stream_commands import SendToStream, StartStream
from engine.calls.model.stream_events import SpeechUnderstood, StreamActionReceived, StreamEnded
from tests.contract.rpc.webhooks.scene import WebhookScene
from tests.harness.api.rest import Rest
from tests.harness.rpc.conversation import Conversation, talking
from tests.harness.until import until
from tests.harness.webhooks.customer import HANGUP, Server
from wire.base import tag_of


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


@pytest.fixture
async def webhook_scene(rest: Rest) -> AsyncIterator[WebhookScene]:
    """Run a customer's server."""
    server = Server(web.Response(text=HANGUP))
    async with server.open() as url:
        yield WebhookScene(rest.scene, server, url)


def path_of(call: str) -> str:
    return f"/srmain/voice/call/{call}/timeline"


async def timeline(rest: Rest, call: str, token: str | None = None) -> Any:
    """Return a timeline that must be found."""
    answer = await rest.request("GET", path_of(call), token=token)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def key(rest: Rest, *scopes: str, agent: str | None = None) -> str:
    """Return a key of acme with scopes, which is accepted as a token."""
    made = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", made, KeyTerms(agent, scopes))
    return made.api_key


def feed(talk: Conversation, event: Event) -> None:
    """Let something happen in the call."""
    found = talk.scene.service.find(talk.call)
    assert found is not None
    found[0].feed(found[1], event)


async def test_what_happened_in_a_call(rest: Rest, talk: Conversation) -> None:
    """Its state, events, commands and verbs, also after its end; not where it is."""
    found = await timeline(rest, talk.call)
    details = await rest.request("GET", f"/srmain/voice/call-details/{talk.call}")
    assert found["call"] == details.json()
    answered = [each for each in found["moments"] if each["event"]["type"] == "leg-answered"]
    assert [each["event"]["leg"] for each in answered] == [talk.customer, talk.agent]
    assert [each["started"]["type"] for each in found["moments"] if "started" in each] == ["dial"]
    commands = [each for moment in found["moments"] for each in moment["commands"]]
    (created,) = [each for each in commands if each.get("party") == "agent:1001"]
    assert (created["type"], "callerId" in created) == ("originate", True)
    assert not {name for each in commands for name in each} & INTERNAL_FIELDS
    await talk.ends()
    assert (await timeline(rest, talk.call))["call"]["endedMs"]


async def test_what_is_new(rest: Rest, talk: Conversation) -> None:
    """With `next` as `after`: moments and attempts since, none twice."""
    whole = await timeline(rest, talk.call)
    path = f"{path_of(talk.call)}?after="
    assert (await rest.request("GET", path)).json()["moments"] == whole["moments"]
    feed(talk, HoldRequested(talk.agent, held=True))
    types: list[str] = []

    async def is_shown() -> bool:
        more = (await rest.request("GET", path + whole["next"])).json()
        types[:] = [each["event"]["type"] for each in more["moments"]]
        return bool(types)

    await until(is_shown, what="the hold")
    assert types == ["hold-requested"]
    assert (await rest.rejected("GET", f"{path}x"))[:2] == (400, "invalid")


async def test_steps_within_an_engine_are_left_out(rest: Rest, talk: Conversation) -> None:
    """A new clock has caused nothing that a customer notices; what follows it is shown."""
    before = len((await timeline(rest, talk.call))["moments"])
    feed(talk, ClockChanged(1))
    feed(talk, HoldRequested(talk.agent, held=True))
    types: list[str] = []

    async def is_shown() -> bool:
        moments = (await timeline(rest, talk.call))["moments"]
        types[:] = [each["event"]["type"] for each in moments[before:]]
        return bool(types)

    await until(is_shown, what="the hold")
    assert types == ["hold-requested"]


async def test_attempts_have_their_ids_in_the_webhook_log(
    rest: Rest, talk: Conversation, webhook_scene: WebhookScene
) -> None:
    """Which shows them; a key without the scope of the log sees none."""
    await webhook_scene.actions.ask("acme", webhook_scene.url, b"{}", f"{talk.call}.r9", "")
    await webhook_scene.scene.attempts.flush()
    shown_first = await timeline(rest, talk.call)
    (attempt,) = shown_first["attempts"]
    since = await rest.request("GET", f"{path_of(talk.call)}?after={shown_first['next']}")
    assert since.json()["attempts"] == []
    assert (attempt["requestId"], attempt["status"]) == (f"{talk.call}.r9", 200)
    shown = await rest.request("GET", f"/srmain/voice/webhooks/{attempt['id']}")
    assert shown.json()["requestId"] == attempt["requestId"]
    without = await key(rest, "calls")
    assert (await timeline(rest, talk.call, without))["attempts"] == []


async def test_another_accounts_timeline_is_not_found(rest: Rest, talk: Conversation) -> None:
    """Nor that of a call in which the agent of a token has no part."""
    token = await rest.token_of("other", "other")
    problem = await rest.rejected("GET", path_of(talk.call), token=token)
    assert problem[:2] == (404, "not_found")
    assert (await rest.rejected("GET", path_of("0-pbx1-gone")))[0] == 404
    other_agents = await key(rest, "calls:own", agent="1002")
    rejected = await rest.rejected("GET", path_of(talk.call), token=other_agents)
    assert rejected[:2] == (404, "not_found")


async def test_an_agents_timeline(
    rest: Rest, talk: Conversation, webhook_scene: WebhookScene
) -> None:
    """The agent's own call: parties and sessions, without what servers and flows exchange."""
    await webhook_scene.actions.ask("acme", webhook_scene.url, b"{}", f"{talk.call}.r9", "")
    await webhook_scene.scene.attempts.flush()
    feed(
        talk, TransferRequested("blind", talk.agent, talk.customer, "+47", music=webhook_scene.url)
    )
    agents = await key(rest, "calls:own", "webhooks", agent="1001")
    found: dict[str, Any] = {}

    async def is_shown() -> bool:
        found.update(await timeline(rest, talk.call, agents))
        return bool(found["moments"][-1]["event"]["type"] == "transfer-requested")

    await until(is_shown, what="the transfer")
    assert found["call"]["callId"] == talk.call
    assert found["attempts"] == []
    events = [each["event"] for each in found["moments"]]
    assert talk.agent in [each["leg"] for each in events if each["type"] == "leg-answered"]
    assert [each["started"] for each in found["moments"] if "started" in each] == [{"type": "dial"}]
    assert webhook_scene.url not in str(found["moments"])


async def test_what_an_engines_step_has_caused(talk: Conversation) -> None:
    """It is shown, without what is the operator's; a step that has caused nothing is not."""
    whole = await talk.shown("/timeline")
    step = {"atMs": 1, "event": {"type": "clock-changed", "pbx_ms": 5}, "state": "playing"}
    hidden = {"type": "prefetch-media", "clips": []}
    verb = {"type": "pause", "data": {}}
    moments = [
        {**step, "commands": [hidden]},
        {**step, "commands": [hidden, {"type": "originate", "caller_id": "+47", "trunk": "main"}]},
        {**step, "commands": [hidden], "started": verb},
    ]
    given = msgspec.json.encode({**whole, "moments": moments, "omitted": 4, "next": "n"})
    found = msgspec.json.decode(call_timeline(given, with_attempts=True))
    shown = {**step, "event": {"type": "engine"}}
    assert found["moments"] == [
        {**shown, "commands": [{"type": "originate", "callerId": "+47"}]},
        {**shown, "commands": [], "started": verb},
    ]
    assert (found["omitted"], found["next"]) == (4, "n")


async def test_what_servers_exchange_is_not_an_agents(talk: Conversation) -> None:
    """Of a request and its result an agent sees that they were, and the code of a failure."""
    whole = await talk.shown("/timeline")
    secret, request = "https://user:secret@shop.example", f"{talk.call}.r9"
    sent = {"type": "send-webhook", "request": request, "url": secret, "body": {"event": secret}}
    failed = {"type": "action-failed", "request": request, "reason": f"not_json: {secret}"}
    verb = {"type": "say", "data": {"text": secret}}
    moment = {"atMs": 1, "event": failed, "commands": [sent], "state": "playing", "started": verb}
    given = msgspec.json.encode({**whole, "moments": [moment]})
    found = msgspec.json.decode(call_timeline(given, with_attempts=False, for_agent=True))
    assert found["moments"] == [
        {
            **moment,
            "event": {**failed, "reason": "not_json"},
            "commands": [{"type": "send-webhook", "request": request}],
            "started": {"type": "say"},
        }
    ]


def test_what_is_left_out_exists() -> None:
    """Names of events, commands and fields that nothing has would hide nothing."""
    events, commands = _members(Event), _members(Command)
    assert {tag_of(each) for each in events} > INTERNAL_EVENTS
    assert {tag_of(each) for each in commands} > INTERNAL_COMMANDS
    results = {each for each in events if each.__module__ == ActionFailed.__module__}
    with_bots: set[Any] = {StartStream, SendToStream, StreamActionReceived, StreamEnded}
    with_bots |= {ForkRequested, StreamTextRequested, SpeechUnderstood}
    exchanges = results | _members(IoCommand) | with_bots
    assert {tag_of(each) for each in exchanges} == EXCHANGES
    shown = (events | commands) - exchanges
    names = {name for each in shown for name in each.__struct_fields__}
    assert not names & {"url", "body", "action", "values", "node", "data", "message", "text"}
    fields = {name for each in events | commands for name in each.__struct_fields__}
    assert fields > INTERNAL_FIELDS


def _members(union: Any) -> set[Any]:
    """Return the members of a union, and of unions in it."""
    parts = get_args(union)
    return set().union(*map(_members, parts)) if parts else {union}
