"""The flow of docs/flows.md on real calls: looks up the caller, branches and dials."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import (
    WebhookRequest,
    WebhookServer,
    page,
    silent,
    status,
)
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.until import MAX_WAIT_S
from tests.live.recovery.test_resilience import crash

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
REQUEST = "65f0c0ffee0123456789abcd"
WELCOME_HZ, MENU_HZ, AGENT_HZ, CALLER_HZ = 700, 800, 600, 400
TOKEN = "s3cr3t-of-the-crm"  # noqa: S105 - of a test server
LASTS_MS = 300_000  # a menu, until a key or a hangup
TREE_WITHIN_S = 3 * MAX_WAIT_S  # three menus, and two texts that are not spoken yet


def example(name: str) -> Any:
    return json.loads((EXAMPLES / name).read_text())


async def store_flow(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer, *, timeout_ms: int = LASTS_MS
) -> None:
    """Store the request and the flow of the guide, with the addresses of test servers.

    The prompt of the menu is a tone, which phones can detect.
    """
    request = {**example("support-request.json"), "url": hooks.url("/people")}
    request["secrets"] = {"token": TOKEN}
    await lab.engine.documents.request("acme", REQUEST, request)
    flow = example("support-flow.json")
    address = sounds.url("/tone/{{answers.lookup.greeting}}.wav")
    flow["nodes"]["greeting"]["data"]["audioUrl"] = address
    flow["nodes"]["menu"]["data"] = {"audioUrl": sounds.tone(MENU_HZ, 300), "timeout": timeout_ms}
    await lab.engine.documents.flow("acme", "support", flow)


def crm_answer(agent: str = "+4722222222", tier: str = "gold") -> dict[str, Any]:
    """Return the answer of the customer's server about the caller."""
    return {"person": {"tier": tier, "greeting": f"{WELCOME_HZ}-300", "agent": agent}}


async def start_call(lab: Lab, **more: Any) -> str:
    """Start a call that runs the flow."""
    request = {"to": "+15550100", "flowId": "support", "customData": {"order": 7}, **more}
    return await lab.call(**request, contact={"fName": "Ada"})


async def visited_nodes(lab: Lab, call: str) -> list[str]:
    """Return the flow nodes that a call visited."""
    return [
        each["name"]
        for each in await lab.timeline_events(call)
        if each["type"] == "flow-node-loaded"
    ]


async def said_texts(lab: Lab, call: str) -> list[str]:
    """Return the texts that the flow of a call spoke."""
    story = [
        each["node"]
        for each in await lab.timeline_events(call)
        if each["type"] == "flow-node-loaded"
    ]
    return [each["data"]["text"] for each in story if each["type"] == "say"]


def check_lookup(request: WebhookRequest, call: str) -> None:
    """Check the lookup request to the customer's server."""
    assert request.body == {"phone": "+15550001", "order": 7}
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["idempotency-key"].startswith(call)


async def test_a_flow_looks_up_the_caller_and_dials_an_agent(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Answers become variables in a prompt and a number; a key leads to an agent."""
    async with (
        Phone.answering(free_port(), tone_hz=AGENT_HZ) as agent,
        Phone.answering(lab.trunk_port, tone_hz=CALLER_HZ) as caller,
    ):
        hooks.answers("/people", crm_answer(agent.address))
        await store_flow(lab, hooks, sounds)
        call = await start_call(lab)
        await caller.until_heard(WELCOME_HZ)
        await caller.until_heard(MENU_HZ)
        await caller.press("1")
        await caller.until_hears(AGENT_HZ)
        await agent.until_hears(CALLER_HZ)
        await agent.hang_up()
        await caller.wait_ended()
    check_lookup(hooks.requests[0], call)
    path = ["lookup", "found", "tier", "greeting", "menu", "talk", "talked", "bye"]
    assert await visited_nodes(lab, call) == path
    assert await said_texts(lab, call) == ["Goodbye, Ada."]
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_a_condition_takes_its_other_branch(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A customer without gold tier hears no welcome; silence and wrong keys repeat the menu."""
    hooks.answers("/people", crm_answer(tier="tin"))
    await store_flow(lab, hooks, sounds, timeout_ms=5_000)
    async with Phone.answering(lab.trunk_port) as caller:
        call = await start_call(lab)
        await caller.until_heard(MENU_HZ)
        await caller.press("9")
        await caller.wait_ended(timeout_s=TREE_WITHIN_S)
        assert len(caller.tones_heard(MENU_HZ)) == 3
        assert caller.tones_heard(WELCOME_HZ) == []
    rounds = ["menu", "again", "menu", "again", "menu", "again"]
    assert await visited_nodes(lab, call) == ["lookup", "found", "tier", *rounds, "bye"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(404), "status_404"),
        (page(), "not_json"),
        (silent(), "timeout"),
        ({"person": {"tier": "x" * 2_000}}, "value_too_large"),
        ({"person": {"tier": ["gold"]}}, "not_a_value"),
        ({"person": {"tier": "x" * 70_000}}, "too_large"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_failed_lookup_takes_the_failure_branch(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer, answer: object, reason: str
) -> None:
    """The call takes the failure branch; the timeline has the reason."""
    hooks.answers("/people", answer)
    await store_flow(lab, hooks, sounds)
    async with Phone.answering(lab.trunk_port) as caller:
        call = await start_call(lab)
        await caller.until_heard(MENU_HZ)
        await caller.hang_up()
        await lab.wait_ended(call)
    assert await visited_nodes(lab, call) == ["lookup", "unknown", "sorry", "menu"]
    assert await said_texts(lab, call) == ["We could not find you under +15550001."]
    [failed] = [
        each for each in await lab.timeline_events(call) if each["type"] == "api-request-failed"
    ]
    assert failed["reason"] == reason


async def test_no_secret_is_exposed(lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
    """A secret is sent, but appears in no log, timeline, event or view."""
    hooks.answers("/people", status(500))
    await store_flow(lab, hooks, sounds)
    async with Phone.answering(lab.trunk_port) as caller:
        call = await start_call(lab)
        await caller.until_heard(MENU_HZ)
        await caller.hang_up()
        await lab.wait_ended(call)
    assert TOKEN in hooks.requests[0].headers["authorization"]
    result = [
        await lab.engine.rpc("GET", f"/calls/{call}/timeline"),
        await lab.engine.wait_for_event(call, "completed"),
    ]
    logs = "".join(each.read_text() for each in lab.engine.folder.glob("*log*") if each.is_file())
    assert logs
    assert TOKEN not in json.dumps(result) + logs


async def test_a_pending_request_survives_the_death_of_the_engine(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """SIGKILL during the lookup: it is repeated with the same key, and the flow continues."""
    hooks.answers("/people", silent(), crm_answer())
    await store_flow(lab, hooks, sounds)
    async with Phone.answering(lab.trunk_port) as caller:
        call = await start_call(lab)
        first = await hooks.wait_for_request("/people")
        await crash(lab)
        second = await hooks.wait_for_request("/people", 2)
        await caller.until_heard(WELCOME_HZ)
        await caller.until_heard(MENU_HZ)
        await caller.hang_up()
        await lab.wait_ended(call)
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert (first.body, len(hooks.requests)) == (second.body, 2)
    assert await visited_nodes(lab, call) == ["lookup", "found", "tier", "greeting", "menu"]


async def test_a_call_keeps_its_flow_version(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A flow is replaced and deleted during a call, which continues with its version."""
    hooks.answers("/people", crm_answer(tier="tin"))
    await store_flow(lab, hooks, sounds, timeout_ms=1_500)
    async with Phone.answering(lab.trunk_port) as caller:
        call = await start_call(lab)
        await caller.until_heard(MENU_HZ)
        await lab.engine.documents.flow(
            "acme", "support", {"start": "a", "nodes": {"a": {"type": "hangup"}}}
        )
        await lab.engine.documents.delete("acme", "flow", "support")
        await crash(lab)
        await caller.wait_ended(timeout_s=TREE_WITHIN_S)
    assert (await visited_nodes(lab, call))[-2:] == ["again", "bye"]
