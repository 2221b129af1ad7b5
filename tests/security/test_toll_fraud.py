"""H4 and the toll-fraud drill: whatever requests a premium number, no leg is dialled."""

from typing import Any

import pytest
from msgspec.structs import replace

from engine.app.factories import default_policy
from engine.calls.model.events import LegAnswered, LegCreated
from engine.runtime.policy.destinations import reject_destination
from engine.runtime.policy.dial_policy import DialPolicy, allowed_caller_id
from tests.harness.api.rest import Rest
from tests.harness.calls.builders import inbound, outbound
from tests.harness.memory_store.documents import MemoryDialPolicyStore
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import CALL, RpcScene, inject
from tests.harness.until import until
from wire.dial_policy import AccountDialPolicy, NumberType

CREATE = "POST channels/create"
PREMIUM = "+4782912345"
ALL = {"destinations": ["+47", "+1"], "numbers": ["+4721930000"]}
ANY = AccountDialPolicy()


@pytest.mark.parametrize("party", ["+4721930000", "agent:1001"])
async def test_an_account_without_a_policy_calls_nobody(party: str) -> None:
    """Also not after the store has lost its data."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0, default=default_policy((), ""))
    assert await policy.check("acme", party) == "terms_unknown"
    decisions: list[str] = []
    policy.authorize(outbound(), party, "+4799999999", lambda d: decisions.append(d.rejection))
    assert decisions == ["terms_unknown"]


@pytest.mark.parametrize(
    ("allowed", "number", "agent"),
    [(("agents",), "not_allowed", ""), (("+1",), "not_allowed", ""), (("any",), "", "")],
)
async def test_engines_without_a_rest_layer(
    allowed: tuple[str, ...], number: str, agent: str
) -> None:
    """Their default names what accounts without a policy may call, and always allows agents."""
    policy = DialPolicy(MemoryDialPolicyStore(), lambda: 0, default=default_policy(allowed, ""))
    found = [await policy.check("acme", party) for party in ("+4721930000", "agent:1001")]
    assert found == [number, agent]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (PREMIUM, "premium"),
        ("004782912345", "premium"),
        ("sip:+4782912345@sbc.example.com", "premium"),
        ("+4918012345", "shared_cost"),
        ("+447012345678", "personal"),
        ("+881612345678", "satellite"),
        ("+870773111632", "satellite"),
        ("+97912345678", "premium"),
        ("+18765551234", "high_risk"),
        ("+118765551234", "high_risk"),
        ("00118765551234", "high_risk"),
        ("sip:+118765551234@sbc.example.com", "high_risk"),
        ("+4409012345678", "premium"),
        ("+2525551234", "high_risk"),
        ("*21*+18765551234#", "service_code"),
    ],
)
def test_numbers_that_cost_more(number: str, kind: NumberType) -> None:
    """They are denied although any number is allowed, unless their type is."""
    assert reject_destination(ANY, number) == "number_type"
    types: tuple[NumberType, ...] = (kind,) if kind != "service_code" else (kind, "high_risk")
    assert reject_destination(AccountDialPolicy(number_types=types), number) == ""


@pytest.mark.parametrize("number", ["+4721930000", "+15550001111", "+442079460000"])
def test_other_numbers(number: str) -> None:
    """They are not affected."""
    assert reject_destination(ANY, number) == ""


@pytest.mark.parametrize(
    ("number", "country", "found"),
    [
        ("21930000", "47", ""),
        ("22222222", "47", ""),  # +222 is Mauritania
        ("21930000", "", "number_without_country"),
        ("22222222", "", "number_without_country"),
        ("4155551234", "47", "number_without_country"),  # +41 is Switzerland
        ("4155551234", "1", ""),
        ("8765551234", "1", "number_type"),  # Jamaica
        ("82912345", "47", "number_type"),
        ("47829123459999", "47", "number_without_country"),
    ],
)
def test_a_number_without_a_country_code(number: str, country: str, found: str) -> None:
    """Only one of the account's country is dialled, and what it costs there decides."""
    assert reject_destination(AccountDialPolicy(country=country), number) == found


def test_denied_prefixes() -> None:
    """They apply within allowed ones, however the number is written."""
    policy = AccountDialPolicy(destinations=("+47", "0047"), denied=("+4790",))
    found = [
        reject_destination(policy, each) for each in ("+4721930000", "+4790000000", "004790000000")
    ]
    assert found == ["", "not_allowed", "not_allowed"]


def test_an_allowed_prefix_within_a_high_risk_range() -> None:
    """It names the country, so it allows its numbers; a shorter one does not."""
    jamaica = AccountDialPolicy(destinations=("+1876",))
    assert reject_destination(jamaica, "+18765551234") == ""
    assert (
        reject_destination(AccountDialPolicy(destinations=("+1",)), "+18765551234") == "number_type"
    )


def test_a_forged_caller_id() -> None:
    """A number that the account does not own is not shown; its own is shown as E.164."""
    policy = AccountDialPolicy(numbers=("+4721930000",))
    assert allowed_caller_id(policy, outbound(), "+4799999999", "") == "+4721930000"
    assert allowed_caller_id(policy, outbound(), "4721930000", "") == "+4721930000"
    assert allowed_caller_id(policy, inbound(), "+15550009999", "") == "+4721930000"


async def test_a_webhook_that_dials_a_premium_number(scene: RpcScene) -> None:
    """The tree's leg is not dialled, and its event has the reason."""
    assert (await scene.request("PUT", "/terms/acme", ALL))[0] == 200
    dial = {"type": "dial", "data": {"number": [PREMIUM, "+18765551234"]}}
    call = await scene.start_call(action=dial)
    found = scene.service.find(call)
    assert found is not None
    for event in (LegCreated(f"{call}.l0"), LegAnswered(f"{call}.l0")):
        inject(scene, event)

    def is_rejected() -> bool:
        scene.pbx.settle()
        return len(found[1].call.ended_legs) >= 2

    await until(is_rejected, what="rejected legs")
    called = [each for each in found[1].call.ended_legs if each.leg.id != f"{call}.l0"]
    assert [each.reason for each in called] == ["number_type", "number_type"]
    assert scene.pbx.lines.count(CREATE) == 1  # the main leg's


async def test_requests_of_an_agents_token(rest: Rest) -> None:
    """Neither a call nor a dial into the agent's own call reaches a premium number."""
    assert (await rest.scene.request("PUT", "/terms/acme", ALL))[0] == 200
    token = await rest.token_of("acme", agentId="1001")
    body: dict[str, Any] = {"from": "agent:1001", "to": PREMIUM}
    rejected = await rest.rejected("POST", "/srmain/voice/call", body, token=token)
    assert rejected[:2] == (400, "number_type")
    talk = await talking(rest.scene)
    before = rest.scene.pbx.lines.count(CREATE)
    for target in (PREMIUM, "+18765551234"):
        dial = {"callId": talk.call, "target": target}
        found = await rest.rejected("POST", "/srmain/voice/dial", dial, token=token)
        assert found[:2] == (400, "number_type")
    assert rest.scene.pbx.lines.count(CREATE) == before


async def test_a_request_names_the_field(scene: RpcScene) -> None:
    """The error is clear about what is not allowed."""
    assert (await scene.request("PUT", "/terms/acme", ALL))[0] == 200
    status, problem = await scene.request("POST", "/calls", {**CALL, "to": PREMIUM})
    error = problem["errors"][0]
    assert (status, problem["code"], error["path"]) == (400, "number_type", "to")
    assert error["message"].endswith(
        "of the type premium, which this account may not call (--allow-type premium)"
    )


@pytest.mark.parametrize("party", ["+4721930000", "agent:1001"])
async def test_a_call_that_dials_for_ever(party: str) -> None:
    """H3: a webhook that answers `dial` again and again is stopped; an agent's phone is silent."""
    policy = DialPolicy(
        MemoryDialPolicyStore(), lambda: 0, default=AccountDialPolicy(max_legs_per_call=3)
    )
    decisions: list[str] = []
    call = outbound()
    await policy.check(call.account, party)
    for dialled in (3, 4):
        several = replace(call, legs=(call.legs[0],), ended_legs_omitted=dialled - 1)
        policy.authorize(several, party, "", lambda found: decisions.append(found.rejection))
    assert decisions == ["", "legs_per_call"]


async def test_the_caller_is_no_leg_that_was_dialled() -> None:
    """An inbound call may dial as many parties as any other."""
    policy = DialPolicy(
        MemoryDialPolicyStore(), lambda: 0, default=AccountDialPolicy(max_legs_per_call=2)
    )
    decisions: list[str] = []
    call = inbound()
    await policy.check(call.account, "agent:1001")
    for dialled in (2, 3):
        several = replace(call, ended_legs_omitted=dialled)
        policy.authorize(several, "agent:1001", "", lambda it: decisions.append(it.rejection))
    assert decisions == ["", "legs_per_call"]
