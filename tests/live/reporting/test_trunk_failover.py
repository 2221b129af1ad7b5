"""Several trunks: a number that one carrier cannot reach is called over the next one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError

CALLED = "+15550100"


class TwoTrunks:
    """A lab with the trunks `trunk` and `backup`."""

    def __init__(self, lab: Lab, backup_port: int) -> None:
        self.lab = lab
        self.backup_port = backup_port

    async def choose(self, *trunks: str) -> None:
        await self.lab.engine.rpc("PUT", "/terms/acme", {"trunks": trunks})


@pytest.fixture
async def two_trunks(tmp_path: Path) -> AsyncIterator[TwoTrunks]:
    port = free_port()
    async with open_lab(
        tmp_path / "lab",
        settings={"FURTHER_TRUNKS": f"backup=sip:127.0.0.1:{port}"},
        engine_settings={"SWITCHROOM_FURTHER_TRUNKS": '["backup"]'},
    ) as lab:
        yield TwoTrunks(lab, port)


async def test_a_carrier_without_a_circuit(two_trunks: TwoTrunks) -> None:
    """503: the other carrier gets the call, with the same number, and both sides hear."""
    lab = two_trunks.lab
    async with (
        Phone.refusing(lab.trunk_port, 503) as refusing,
        Phone.answering(two_trunks.backup_port, tone_hz=600) as phone,
    ):
        action = {"type": "say", "data": {"text": "Over the other trunk."}}
        call = await lab.call(to=CALLED, action=action)
        await phone.wait_answered()
        await refusing.wait_ended()
        assert refusing.status == 503
        (invite,) = [each for each in phone.messages if each.method == "INVITE"][:1]
        assert CALLED in invite.first_line
        await phone.wait_ended()
    ended = await lab.wait_ended(call)
    assert ended["status"] == "completed"
    ends = [each for each in await lab.timeline_events(call) if each["type"] == "leg-ended"]
    assert ends[0]["sipCode"] == 503


async def test_a_party_that_is_busy(two_trunks: TwoTrunks) -> None:
    """Another carrier would not change that."""
    lab = two_trunks.lab
    async with (
        Phone.refusing(lab.trunk_port, 486) as refusing,
        Phone.answering(two_trunks.backup_port) as phone,
    ):
        call = await lab.call(to=CALLED)
        await refusing.wait_ended()
        assert (await lab.wait_ended(call))["status"] == "busy"
        assert phone.messages == []


async def test_the_trunks_of_an_account(two_trunks: TwoTrunks) -> None:
    """It has its own order, and no other trunk."""
    lab = two_trunks.lab
    await two_trunks.choose("backup")
    async with Phone.refusing(two_trunks.backup_port, 503) as refusing:
        call = await lab.call(to=CALLED)
        await refusing.wait_ended()
        ended = await lab.wait_ended(call)
        assert ended["status"] == "failed"
    with pytest.raises(RequestError) as rejected:
        await two_trunks.choose("backup", "third")
    (error,) = rejected.value.problem["errors"]
    assert (error["path"], error["message"]) == ("trunks[1]", "one of trunk, backup")
