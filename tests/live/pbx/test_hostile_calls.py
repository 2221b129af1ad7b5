"""What strangers and phones send to a real PBX to harm it: REFER, names, dialled numbers."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.until import MAX_WAIT_S, until

WAITS = {"type": "gather", "data": {"timeout": 30_000}}
INVITE = """\
INVITE sip:{number}@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:{port};rport;branch=z9hG4bK-unreadable-call-id
From: <sip:+4790000001@127.0.0.1>;tag=1
To: <sip:{number}@127.0.0.1>
Call-ID: unreadable-{port}
CSeq: 1 INVITE
Contact: <sip:carrier@127.0.0.1:{port}>
Max-Forwards: 70
Content-Length: 0

"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Run a PBX with REFER as operators have it: off."""
    async with open_lab(tmp_path_factory.mktemp("hostile")) as lab:
        yield lab


async def test_a_phone_cannot_crash_the_pbx(lab: Lab) -> None:
    """Its REFER with `Refer-Sub: false` is declined, and its call goes on."""
    number = await lab.add_number({"type": "dial", "data": {"agent_id": "1004"}})
    async with (
        Phone.agent(lab.pbx, "1004") as agent,
        Phone.calling(lab.pbx, number, tone_hz=700) as caller,
    ):
        await agent.until_hears(700)
        await agent.refer("<sip:+15550100@127.0.0.1>", "Refer-Sub: false")
        await until(lambda: refer_status(agent) == 603, what="the REFER to be declined")
        assert lab.pbx.running()
        await caller.hang_up()


async def test_a_caller_with_the_name_of_an_agent(tmp_path: Path) -> None:
    """A call of the trunk is the trunk's, and not asked for the password of agent 1001."""
    async with open_lab(tmp_path, settings={"AGENTS_AT_TRUNK": "no"}) as lab:
        number = await lab.add_number(WAITS)
        async with Phone.calling(lab.pbx, number, caller="1001") as caller:
            call = await lab.wait_for_call()
            assert (await lab.engine.call(call))["from"] == "1001"
            await caller.hang_up()


async def test_a_comma_in_the_dialled_number(lab: Lab) -> None:
    """What follows it is not an argument of the dialplan's own, such as the caller's privacy."""
    number = await lab.add_number(WAITS)
    async with Phone.calling(lab.pbx, f"{number},privacy=id") as caller:
        await caller.wait_ended()
    assert caller.status == 404


async def test_a_dialled_number_that_is_not_utf_8(lab: Lab) -> None:
    """Asterisk could list none of its channels for as long as the call lasts."""
    number = await lab.add_number(WAITS)
    async with Phone.calling(lab.pbx, f"{number}%f8") as caller:
        call = await lab.wait_for_call()
        assert (await lab.engine.call(call))["to"] == number
        await caller.hang_up()


async def test_a_call_id_that_is_not_utf_8(lab: Lab) -> None:
    """The call is refused: an engine that recovers needs the list of channels."""
    number = await lab.add_number(WAITS)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as carrier:
        carrier.bind(("127.0.0.1", 0))
        carrier.setblocking(False)
        text = INVITE.format(number=number, port=carrier.getsockname()[1]).replace("\n", "\r\n")
        request = text.encode().replace(b": unreadable", b": \xf8")
        loop = asyncio.get_running_loop()
        await loop.sock_sendto(carrier, request, ("127.0.0.1", lab.pbx.sip_port))
        async with asyncio.timeout(MAX_WAIT_S):
            while (status := int((await loop.sock_recv(carrier, 4_096)).split()[1])) < 200:
                pass
    assert status == 603


def refer_status(phone: Phone) -> int:
    """Return the final response to a phone's REFER, or 0."""
    found = [each.status for each in phone.messages if each.method == "REFER" and each.status]
    return found[-1] if found else 0
