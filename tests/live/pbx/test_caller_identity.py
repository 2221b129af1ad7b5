"""Callers and called numbers: privacy, diversion, and the spellings of a number."""

import pytest

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.sip import SipMessage

WAITS = {"type": "gather", "data": {"timeout": 30_000}}
SUBSCRIBER = "90000777"
WITHHELD = {
    "asserted": (f"P-Asserted-Identity: <sip:+47{SUBSCRIBER}@127.0.0.1>", "Privacy: id"),
    "asserted-twice": (
        f'P-Asserted-Identity: "Eva, A" <sip:+47{SUBSCRIBER}@127.0.0.1>, <tel:+47{SUBSCRIBER}>',
        "Privacy: id",
    ),
    "asserted-in-two-lines": (
        'P-Asserted-Identity: "Eva, A" <sip:eva@127.0.0.1>',
        f"P-Asserted-Identity: <tel:+47{SUBSCRIBER}>",
        "Privacy: id",
    ),
    "several": (f"P-Asserted-Identity: <sip:+47{SUBSCRIBER}@127.0.0.1>", "Privacy: user;id"),
    "remote-party-id": (f"Remote-Party-ID: <sip:+47{SUBSCRIBER}@127.0.0.1>;privacy=full",),
    "uri": (f"Remote-Party-ID: <sip:+47{SUBSCRIBER}@127.0.0.1>;party=calling;privacy=uri",),
    "called-party-first": (
        "Remote-Party-ID: <sip:+4721@127.0.0.1>;party=called;privacy=off",
        f'Remote-Party-ID: <sip:+47{SUBSCRIBER}@127.0.0.1>;party=calling;privacy="full"',
    ),
    "without-assertion": ("Privacy: id",),
}


@pytest.mark.parametrize("headers", WITHHELD.values(), ids=WITHHELD)
async def test_a_withheld_number_is_not_shown(
    lab: Lab, hooks: WebhookServer, headers: tuple[str, ...]
) -> None:
    """No message to a phone or an untrusted trunk contains it; applications get it."""
    dial = {"type": "dial", "data": {"number": ["+15550123"]}}
    async with Phone.answering(lab.trunk_port) as carrier, Phone.agent(lab.pbx, "1004") as agent:
        to_agent = {"type": "dial", "data": {"agent_id": "1004"}, "action": dial}
        number = await lab.add_number(hooks.answers("/start", to_agent))
        async with Phone.calling(
            lab.pbx, number, caller=f"+47{SUBSCRIBER}", headers=headers, tone_hz=700
        ) as caller:
            call = await lab.wait_for_call()
            await agent.until_hears(700)
            view = await lab.engine.call(call)
            await agent.hang_up()
            await carrier.until_hears(700)
            await caller.hang_up()
            await carrier.wait_ended()
            completed = await lab.engine.wait_for_event(call, "completed")
    start = await hooks.wait_for_request("/start")
    for phone in (carrier, agent):
        assert phone.caller_id == "anonymous"
        assert not [each.text for each in phone.messages if SUBSCRIBER in each.text]
    assert (start.body["privacy"], start.body["from"]) == (True, f"+47{SUBSCRIBER}")
    assert (view["privacy"], completed["privacy"]) == (True, True)
    assert completed["record"]["privacy"] is True


async def test_an_anonymous_caller_is_withheld(lab: Lab) -> None:
    """An anonymous From is enough, even if a carrier asserts the number without Privacy."""
    headers = WITHHELD["asserted"][:1]
    async with Phone.agent(lab.pbx, "1004") as agent:
        number = await lab.add_number({"type": "dial", "data": {"agent_id": "1004"}})
        async with Phone.calling(
            lab.pbx, number, caller="anonymous", headers=headers, tone_hz=700
        ) as caller:
            call = await lab.wait_for_call()
            await agent.until_hears(700)
            await caller.hang_up()
    view = await lab.wait_ended(call)
    assert (view["from"], view["privacy"]) == (f"+47{SUBSCRIBER}", True)
    assert agent.caller_id == "anonymous"
    assert not [each.text for each in agent.messages if SUBSCRIBER in each.text]


@pytest.mark.parametrize(
    ("sender", "headers"),
    [
        ("+15550088", ()),
        ("+15550099", ("P-Asserted-Identity: <sip:+15550088@127.0.0.1>, <tel:+15550088>",)),
        (
            "+15550088",
            ("P-Asserted-Identity: <sip:+15550088@127.0.0.1>", "Privacy: history"),
        ),
    ],
    ids=["no-header", "asserted-twice", "history"],
)
async def test_a_number_that_is_not_withheld_is_shown(
    lab: Lab, sender: str, headers: tuple[str, ...]
) -> None:
    """A phone shows it, in From and P-Asserted-Identity, and no privacy is reported."""
    async with Phone.agent(lab.pbx, "1004") as agent:
        number = await lab.add_number({"type": "dial", "data": {"agent_id": "1004"}})
        async with Phone.calling(
            lab.pbx, number, caller=sender, headers=headers, tone_hz=700
        ) as caller:
            call = await lab.wait_for_call()
            await agent.until_hears(700)
            await caller.hang_up()
    assert agent.caller_id == "+15550088"
    invites = [each for each in agent.messages if each.first_line.startswith("INVITE")]
    assert len(invites) == 1, "no re-INVITE with the caller's number after the answer"
    assert "+15550088" in invites[0].header("P-Asserted-Identity")
    assert "privacy" not in await lab.wait_ended(call)


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("Anna", "Anna"),
        ('"Åse Ødegård, 株式会社"', "Åse Ødegård, 株式会社"),
        (r'"Bo \"The Man\" <x>;y"', 'Bo "The Man" <x>;y'),
        ('"+15550088"', ""),
        ("", ""),
    ],
    ids=["ascii", "utf-8", "quoted", "number", "none"],
)
async def test_the_name_of_a_caller_is_shown_to_agents(
    lab: Lab, hooks: WebhookServer, sent: str, name: str
) -> None:
    """In webhook requests, events and records, and at an agent's phone; carriers get none."""
    to_trunk = {"type": "dial", "data": {"number": ["+15550123"]}}
    to_agent = {"type": "dial", "data": {"agent_id": "1004"}, "action": to_trunk}
    async with Phone.answering(lab.trunk_port) as carrier, Phone.agent(lab.pbx, "1004") as agent:
        number = await lab.add_number(hooks.answers("/start", to_agent))
        async with Phone.calling(
            lab.pbx, number, caller="+15550088", name=sent, tone_hz=700
        ) as caller:
            call = await lab.wait_for_call()
            await agent.until_hears(700)
            await agent.hang_up()
            await carrier.until_hears(700)
            await caller.hang_up()
            completed = await lab.engine.wait_for_event(call, "completed")
    start = await hooks.wait_for_request("/start")
    found = [each.get("callerName", "") for each in (start.body, completed, completed["record"])]
    assert found == [name] * 3
    if name:
        escaped = name.replace('"', r"\"")
        assert _invite(agent).header("From").startswith(f'"{escaped}" <sip:+15550088@')
        assert name not in _invite(carrier).text
    assert (agent.caller_id, carrier.caller_id) == ("+15550088", "+15550088")


def _invite(phone: Phone) -> SipMessage:
    return next(each for each in phone.messages if each.first_line.startswith("INVITE"))


async def test_a_trusted_trunk_gets_the_withheld_number(strict: Lab) -> None:
    """From is anonymous; P-Asserted-Identity has the number, with `Privacy: id` (RFC 3325)."""
    async with Phone.answering(strict.trunk_port) as carrier:
        number = await strict.add_number({"type": "dial", "data": {"number": "+15550123"}})
        async with Phone.calling(
            strict.pbx, number, headers=WITHHELD["asserted"], tone_hz=700
        ) as caller:
            await carrier.until_hears(700)
            await caller.hang_up()
            await carrier.wait_ended()
    invite = carrier.messages[0]
    assert carrier.caller_id == "anonymous"
    assert SUBSCRIBER in invite.header("P-Asserted-Identity")
    assert invite.header("Privacy") == "id"


async def test_diversions_are_reported(lab: Lab, hooks: WebhookServer) -> None:
    """The webhook and the record name the numbers that forwarded the call, the first one first."""
    headers = (
        "Diversion: <sip:+4722222222@127.0.0.1>;reason=no-answer;counter=1",
        'Diversion: "Eva, A" <tel:+4711111111>;reason=unconditional;privacy=full',
    )
    expected = [
        {"number": "+4711111111", "reason": "unconditional", "privacy": True},
        {"number": "+4722222222", "reason": "no-answer"},
    ]
    assert await _reported_diversion(lab, hooks, headers) == expected


async def test_history_info_is_reported(lab: Lab, hooks: WebhookServer) -> None:
    """History-Info (RFC 7044) is reported in the same form."""
    headers = (
        "History-Info: <sip:+4711111111@a>;index=1, <sip:+4722222222@a;cause=302>;index=1.1;mp=1",
        "History-Info: <sip:+4733333333@127.0.0.1;cause=486>;index=1.2;mp=1.1",
    )
    expected = [
        {"number": "+4711111111", "reason": "unconditional"},
        {"number": "+4722222222", "reason": "user-busy"},
    ]
    assert await _reported_diversion(lab, hooks, headers) == expected


async def _reported_diversion(lab: Lab, hooks: WebhookServer, headers: tuple[str, ...]) -> object:
    number = await lab.add_number(hooks.answers("/start", WAITS))
    async with Phone.calling(lab.pbx, number, headers=headers) as caller:
        call = await lab.wait_for_call()
        request = await hooks.wait_for_request("/start")
        await lab.wait_for_state(call, "gathering")
        await caller.hang_up()
    completed = await lab.engine.wait_for_event(call, "completed")
    assert completed["record"]["diversion"] == request.body["diversion"]
    return request.body["diversion"]


@pytest.mark.parametrize(
    "uri",
    [
        "sip:+{};npdi=yes;rn=+4799@[remote_ip]:[remote_port];user=phone",
        "sip:{};npdi@[remote_ip]:[remote_port]",
        "tel:+{}",
        "sip:00{}@[remote_ip]:[remote_port]",
        "sip:+{}@[remote_ip]:[remote_port]",
    ],
)
async def test_every_spelling_of_a_number_finds_its_route(lab: Lab, uri: str) -> None:
    """Parameters (RFC 4694), tel:, + and 00 make no difference; `to` is the route's number."""
    number = await lab.add_number(WAITS)
    async with Phone.calling(lab.pbx, number, uri=uri.format(number)) as caller:
        call = await lab.wait_for_call()
        assert (await lab.engine.call(call))["to"] == number
        await caller.wait_answered()
        await caller.hang_up()
