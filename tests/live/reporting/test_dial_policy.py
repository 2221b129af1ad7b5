"""Dial policy of accounts on real calls: forbidden numbers are not dialled, the tree continues."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from api.accounts.store import AccountStore
from api.common.clock import now_ms
from api.db.database import Database
from api.dnc.tokens import DncTokenStore
from tests.harness.api.databases import sqlite_url
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.metrics_page import figures
from tests.harness.pbx.asterisk import Pbx, Ports
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port, free_ports
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

MAX_ROUNDS = 10  # engine/runtime/policy/dial_loops.py
ABROAD, CALLED, LISTED = "+4722222222", "+15550100", "+15550199"
ALLOWED = ("+1", "sip:")


class RestrictedAccount:
    """An account with restricted destinations, over REST."""

    def __init__(self, lab: Lab, api: Api, token: str, dnc_token: str) -> None:
        self.lab = lab
        self.api = api
        self.token = token
        self.dnc_token = dnc_token

    async def call(self, action: object, to: str = CALLED) -> str:
        request = {"from": NUMBER, "to": to, "action": action}
        made = await self.api.request("POST", "/srmain/voice/call", request, token=self.token)
        return str(made["callId"])

    async def change_dnc_list(self, action: str, number: str) -> None:
        """Change the do-not-call list and wait until the engine has the new version."""
        version = await self.list_version()
        entry = {"phoneNo": number, "provider": "example-telecom"}
        await self.api.request("GET", f"/srmain/dnc/{action}/{self.dnc_token}", entry, token="")
        await self.wait_for_list(version + 1)

        async def is_consulted() -> bool:
            return bool((await self.lab.engine.rpc("GET", f"/terms/{ACCOUNT}")).get("doNotCall"))

        if action == "subscribe":
            await until(is_consulted, what="the policy that consults the list")

    async def wait_for_list(self, version: int) -> None:
        """Wait until the engine has this version of the do-not-call list, or a later one."""

        async def is_there() -> bool:
            return await self.list_version() >= version

        await until(is_there, what="the list in the engine's store")

    async def wait_for_policy(self) -> None:
        """Wait until the engine has the allowed destinations of the account."""

        async def are_there() -> bool:
            try:
                found = await self.lab.engine.rpc("GET", f"/terms/{ACCOUNT}")
            except RequestError:
                return False
            return found.get("destinations") == list(ALLOWED)

        await until(are_there, what="the dial policy of the account")

    async def refusal_reasons(self, call: str) -> list[str]:
        """Return the reasons why legs of a call were not dialled."""
        events = await self.lab.timeline_events(call)
        return [each["reason"] for each in events if each["type"] == "leg-ended" and each["reason"]]

    async def list_version(self) -> int:
        """Return the version of the list that the engine has; 0: none."""
        shown = (await self.lab.engine.rpc("GET", "/terms"))["accounts"]
        return next((e.get("listVersion", 0) for e in shown if e["account"] == ACCOUNT), 0)


@pytest.fixture
async def customer(lab: Lab, tmp_path: Path) -> AsyncIterator[RestrictedAccount]:
    """Run a REST layer with a restricted account."""
    async with Api(tmp_path / "api", engines=[lab.engine]) as api:
        database = Database(sqlite_url(api.folder))
        accounts = AccountStore(database, now_ms)
        await accounts.change(replace(await accounts.get(ACCOUNT), destinations=ALLOWED))
        dnc_token = await DncTokenStore(database, now_ms).add(ACCOUNT)
        await database.close()
        found = RestrictedAccount(lab, api, await api.token(), dnc_token)
        await found.wait_for_policy()
        yield found


def dial(number: str, then: object = None, **data: Any) -> dict[str, object]:
    """Return a dial of a number with a next action."""
    return {"type": "dial", "data": {"number": number, **data}, "action": then}


async def test_a_webhook_cannot_dial_a_forbidden_number(
    customer: RestrictedAccount, hooks: WebhookServer
) -> None:
    """The dial fails without a PBX request; the webhook gets the reason and dials another."""
    async with (
        Phone.answering(customer.lab.trunk_port, tone_hz=400) as phone,
        Phone.answering(free_port(), tone_hz=600) as other,
    ):
        foreign_caller_id = dial(other.address, callerId="+4799999999")
        after = hooks.answers("/after", foreign_caller_id)
        first = hooks.answers("/first", dial(ABROAD, after))
        call = await customer.call(first)
        result = (await hooks.wait_for_request("/after")).body["dial"]
        assert (result["status"], result["cause"], result["reason"]) == (
            "failed",
            21,
            "not_allowed",
        )
        await phone.until_hears(600)
        await other.until_hears(400)
        assert other.caller_id == NUMBER  # not the caller id of the webhook
        await phone.hang_up()
        await other.wait_ended()
    await customer.lab.wait_ended(call)
    assert await customer.refusal_reasons(call) == ["not_allowed"]


async def test_a_number_on_the_dnc_list_is_not_called(
    customer: RestrictedAccount, hooks: WebhookServer
) -> None:
    """A request is refused with the field name; a later dial of a webhook fails."""
    await customer.change_dnc_list("subscribe", LISTED)
    with pytest.raises(RequestError) as refused:
        await customer.call(None, to=LISTED)
    problem = refused.value.problem
    assert (refused.value.status, problem["code"]) == (400, "do_not_call")
    assert [each["path"] for each in problem["errors"]] == ["to"]
    after = hooks.answers("/after", None)
    first = hooks.answers("/first", dial(LISTED, after))
    async with Phone.answering(customer.lab.trunk_port) as phone:
        call = await customer.call(first)
        result = (await hooks.wait_for_request("/after")).body["dial"]
        await phone.wait_ended()
    assert (result["status"], result["reason"]) == ("failed", "do_not_call")
    await customer.lab.wait_ended(call)
    assert await customer.refusal_reasons(call) == ["do_not_call"]
    await customer.change_dnc_list("unsubscribe", LISTED)
    async with Phone.answering(customer.lab.trunk_port) as phone:
        call = await customer.call(None, to=LISTED)
        await phone.wait_ended()
    await customer.lab.wait_ended(call)


async def test_the_policy_is_published_again_after_data_loss(customer: RestrictedAccount) -> None:
    """Policies and lists are restored from the database automatically."""
    await customer.change_dnc_list("subscribe", LISTED)
    version = await customer.list_version()
    async with Redis(port=customer.lab.valkey.port) as client:
        await client.delete("terms", f"dnc:{{{ACCOUNT}}}", f"dnc:{{{ACCOUNT}}}:version")
    await customer.wait_for_policy()
    await customer.wait_for_list(version)
    with pytest.raises(RequestError) as refused:
        await customer.call(None, to=LISTED)
    assert refused.value.problem["code"] == "do_not_call"


class LoopedPbx(Pbx):
    """A PBX whose carrier connects what is dialled with the PBX itself."""

    def __init__(self, folder: Path, *, trunk: str, **more: Any) -> None:
        del trunk
        ports = Ports(*free_ports(3))
        super().__init__(folder, trunk=f"sip:127.0.0.1:{ports.sip}", ports=ports, **more)


async def test_a_number_whose_route_dials_it(tmp_path: Path) -> None:
    """Each round is a new call; the eleventh is rejected, and all end."""
    async with open_lab(tmp_path, pbx_type=LoopedPbx) as lab:
        action = {"type": "dial", "data": {"number": "+15551999"}}
        await lab.engine.documents.route("15551999", {"account": "acme", "action": action})
        async with Phone.calling(lab.pbx, "15551999") as caller:
            await caller.wait_ended()
        await lab.wait_empty()
        counted = await figures(lab.engine)
    calls = {
        dict(labels)["reason"]: number
        for (name, labels), number in counted.items()
        if name == "switchroom_calls_rejected_total" and number
    }
    started = sum(
        number for (name, _), number in counted.items() if name == "switchroom_calls_started_total"
    )
    assert (calls, started) == ({"dial_loop": 1}, MAX_ROUNDS)
