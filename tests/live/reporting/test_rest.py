"""Over REST, on real lines: a call is made, muted, handed on and made a conference, by tone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

BASE = "/srmain/voice"


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[Api]:
    """Run a REST layer before the engine."""
    async with Api(tmp_path / "api", engines=[lab.engine]) as running:
        yield running


async def test_a_call_is_driven_over_rest(api: Api, crowd: Parties) -> None:
    """Made, muted, transferred, made a conference, ended; the phones tell who hears whom."""
    token = await api.token()

    async def ask(path: str, **body: Any) -> dict[str, Any]:
        return await api.request("POST", f"{BASE}/{path}", body, token=token)

    customer, source = await crowd.add_phone("customer"), await crowd.add_phone("source")
    target, fourth = await crowd.add_phone("target"), await crowd.add_phone("fourth")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    asked = {"from": NUMBER, "to": customer.address, "action": dial}
    call = crowd.call = (await ask("call", **asked))["callId"]
    await crowd.expect_audio(customer="source", source="customer")
    legs = {"customer": await crowd.leg("customer"), "source": await crowd.leg("source")}

    await ask("mute", callId=call, channelId=legs["customer"])
    await crowd.expect_audio(source="", customer="source")
    await api.request(
        "POST", f"{BASE}/call/{call}/unmute", {"channelId": legs["customer"]}, token=token
    )
    await crowd.expect_audio(source="customer", customer="source")

    parties = {"customerChannelId": legs["customer"], "sourceChannelId": legs["source"]}
    who = {"callId": call, "sourceAgentId": "ada", **parties}
    number = {"kind": "number", "number": target.address}
    begun = await ask("transfer/init", transferMode="attended", target=number, **who)
    await crowd.expect_audio(source="target", target="source", customer="music")
    session = {"callId": call, "transferSessionId": begun["transferSessionId"]}
    await ask("transfer/complete", **session, completedByAgentId="ada", reason="manual_complete")
    await source.wait_ended()
    await crowd.expect_audio(customer="target", target="customer")

    who["sourceChannelId"] = await crowd.leg("target")
    added = await ask(
        "conference/add-members",
        **who,
        requestedByAgentId="ada",
        targetExternalNumber=fourth.address,
    )
    await crowd.expect_audio(
        customer="target fourth", target="customer fourth", fourth="customer target"
    )
    shown = await ask("conference/members", callId=call)
    assert shown["conferenceSessionId"] == added["conferenceSessionId"]

    await ask("hangup", callId=call)
    for phone in (customer, target, fourth):
        await phone.wait_ended()
    await crowd.lab.wait_ended(call)
    shown = await api.request("GET", f"{BASE}/call-details/{call}", token=token)
    assert shown["status"] == "completed"


async def test_the_source_is_called_first(api: Api, crowd: Parties) -> None:
    """The other click-to-call form: `from` is no number of the account, so it is called."""
    source, customer = await crowd.add_phone("source"), await crowd.add_phone("customer")
    token = await api.token()
    asked = {"from": source.address, "to": customer.address}
    crowd.call = (await api.request("POST", f"{BASE}/call", asked, token=token))["callId"]
    await crowd.expect_audio(customer="source", source="customer")
    await crowd.hang_up()


async def test_an_engine_that_is_away_is_told_as_such(api: Api, lab: Lab) -> None:
    """503 while it is gone, and again work when it is back; the layer itself lives on."""
    token = await api.token()
    await lab.engine.kill()
    with pytest.raises(RequestError) as refused:
        await api.request("GET", f"{BASE}/call-details/0-pbx1-00000000", token=token)
    assert (refused.value.status, refused.value.problem["code"]) == (503, "no_engine")
    assert not await api.is_ready()
    await lab.ensure_running()
    await until(api.is_ready, what="the layer to be ready again")
