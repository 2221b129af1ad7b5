"""A call's timeline over REST: what a customer sees of it, and of whose calls."""

from collections.abc import AsyncIterator
from typing import Any, get_args

import pytest
from aiohttp import web

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from base.timeline.rows import (
    EXCHANGES,
    FIELDS_OF_ACCOUNTS,
    FIELDS_OF_OPERATORS,
    OF_OPERATORS,
    Reader,
)
from base.timeline.timers import Moment
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
from tests.harness.api.cdrs.records import record, write_calls
from tests.harness.api.rest import Rest
from tests.harness.rpc.conversation import Conversation, talking
from tests.harness.timelines import timeline_of
from tests.harness.until import until
from tests.harness.webhooks.customer import HANGUP, Server
from wire.base import tag_of
from wire.views import CallView


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
    """Its state, its lifelines and its rows, also after its end; not where it is."""
    found = await timeline(rest, talk.call)
    details = await rest.request("GET", f"/srmain/voice/call-details/{talk.call}")
    assert found["call"] == details.json()
    assert [each["heading"] for each in found["lifelines"]] == ["engine", "A", "B"]
    assert found["lifelines"][2]["label"] == "agent:1001"
    answered = [each for each in found["rows"] if each["text"] == "answered"]
    assert [each["from"] for each in answered] == [talk.customer, talk.agent]
    spans = [span for each in found["rows"] for span in each.get("begins", ())]
    assert [each["text"] for each in spans if each["kind"] == "verb"] == ["dial"]
    of_rows = [each["details"] for each in found["rows"]]
    (created,) = [each for each in of_rows if each.get("party") == "agent:1001"]
    assert (created["type"], "callerId" in created) == ("originate", True)
    assert not {name for each in of_rows for name in each} & FIELDS_OF_OPERATORS
    await talk.ends()
    assert (await timeline(rest, talk.call))["call"]["endedMs"]


async def test_what_is_new(rest: Rest, talk: Conversation) -> None:
    """With `next` as `after`: rows and attempts since, none twice."""
    whole = await timeline(rest, talk.call)
    path = f"{path_of(talk.call)}?after="
    assert (await rest.request("GET", path)).json()["rows"] == whole["rows"]
    feed(talk, HoldRequested(talk.agent, held=True))
    texts: list[str] = []

    async def is_shown() -> bool:
        since = (await rest.request("GET", path + whole["next"])).json()
        texts[:] = [each["text"] for each in since["rows"]]
        return bool(texts)

    await until(is_shown, what="the hold")
    assert texts[0] == "request: hold B"
    assert (await rest.rejected("GET", f"{path}x"))[:2] == (400, "invalid")


async def test_steps_within_an_engine_are_left_out(rest: Rest, talk: Conversation) -> None:
    """A new clock is an operator's to see; what follows it is shown."""
    operators = await key(rest, "calls", "operations")
    before = len((await timeline(rest, talk.call))["rows"])
    feed(talk, ClockChanged(1))
    feed(talk, HoldRequested(talk.agent, held=True))
    texts: list[str] = []

    async def is_shown() -> bool:
        rows = (await timeline(rest, talk.call))["rows"]
        texts[:] = [each["text"] for each in rows[before:]]
        return bool(texts)

    await until(is_shown, what="the hold")
    assert texts[0] == "request: hold B"
    shown = [each["text"] for each in (await timeline(rest, talk.call, operators))["rows"]]
    assert shown[before : before + 2] == ["clock changed by 0.001 s", "request: hold B"]


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


async def test_a_call_that_no_engine_keeps(rest: Rest) -> None:
    """Its record has a timeline, for those who may read records; there is nothing new in it."""
    call = record(1)
    await write_calls(rest.services.database, call)
    found = await timeline(rest, call.call_id, await key(rest, "calls", "cdr"))
    assert found["call"]["callId"] == call.call_id
    assert found["rows"][-1]["text"] == f"call ended: {call.status}"
    assert (found["attempts"], found["omitted"], found["next"]) == ([], 0, "")
    without = await key(rest, "calls")
    problem = await rest.rejected("GET", path_of(call.call_id), token=without)
    assert problem[:2] == (404, "not_found")


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
        return any("transfer A from B to +47" in each["text"] for each in found["rows"])

    await until(is_shown, what="the transfer")
    assert found["call"]["callId"] == talk.call
    assert found["attempts"] == []
    answered = [each["from"] for each in found["rows"] if each["text"] == "answered"]
    assert talk.agent in answered
    assert not {each["details"].get("type") for each in found["rows"]} & EXCHANGES
    assert webhook_scene.url not in str(found["rows"])


SECRET = "https://user:secret@shop.example"  # noqa: S105 - of no server


@pytest.mark.parametrize(("reader", "is_shown"), [("agent", False), ("account", True)])
def test_what_servers_exchange_is_not_an_agents(reader: Reader, *, is_shown: bool) -> None:
    """An agent has neither the rows of requests, verbs and bots, nor their addresses."""
    sent = {"type": "send-webhook", "request": "r9", "url": SECRET, "body": {"event": SECRET}}
    failed = {"type": "action-failed", "request": "r9", "reason": f"not_json: {SECRET}"}
    starts = {"type": "start-stream", "stream": "w1", "data": {"url": SECRET}}
    connected = {"type": "stream-connected", "stream": "w1", "connect_ms": 5}
    call = CallView("c", "acme", "pbx1", 1, "inbound", "+1", "+2", "", "", (), 0)
    shown = timeline_of(
        call,
        [
            Moment(1, {"type": "leg-ringing", "leg": "a"}, (sent,), "playing"),
            Moment(2, failed, (), "playing", {"type": "say", "data": {"text": SECRET}}),
            Moment(3, {"type": "call-opened"}, (starts,), "streaming"),
            Moment(4, connected, (), "streaming"),
        ],
        reader=reader,
    )
    texts = [each.text for each in shown.rows]
    assert ("ringing" in texts, "bot connected in 5 ms" in texts) == (True, True)
    assert (len(texts) == 6) is is_shown
    assert ("secret" in str(shown)) is is_shown


def test_what_is_left_out_exists() -> None:
    """Names of events, commands and fields that nothing has would hide nothing."""
    events, commands = _members(Event), _members(Command)
    assert {tag_of(each) for each in events | commands} > OF_OPERATORS
    results = {each for each in events if each.__module__ == ActionFailed.__module__}
    with_bots: set[Any] = {StartStream, SendToStream, StreamActionReceived, StreamEnded}
    with_bots |= {ForkRequested, StreamTextRequested, SpeechUnderstood}
    exchanges = results | _members(IoCommand) | with_bots
    assert {tag_of(each) for each in exchanges} | {"started"} == EXCHANGES
    shown = (events | commands) - exchanges
    names = {name for each in shown for name in each.__struct_fields__}
    assert not names & {"url", "body", "action", "values", "node", "data", "message", "text"}
    fields = {name for each in events | commands for name in each.__struct_fields__}
    assert fields > FIELDS_OF_OPERATORS | FIELDS_OF_ACCOUNTS


def _members(union: Any) -> set[Any]:
    """Return the members of a union, and of unions in it."""
    parts = get_args(union)
    return set().union(*map(_members, parts)) if parts else {union}
