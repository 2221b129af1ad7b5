"""Call records of real calls: available over REST soon after the end, with correct times."""

import time
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.harness.api.databases import sqlite_url
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.records_api import RecordsApi
from tests.harness.until import until

ACCOUNT = "records"
FILTERS = {
    "dialedNumber": "",
    "dispositionLevel1Id": "",
    "dispositionLevel2Id": "",
    "dispositionLevel3Id": "",
}


@pytest.fixture
async def api(lab: Lab, tmp_path: Path) -> AsyncIterator[RecordsApi]:
    """Run a REST layer in front of the engine."""
    async with RecordsApi(
        tmp_path / "api",
        database_url=sqlite_url(tmp_path),
        engine_url=lab.engine.url,
        rpc_token=lab.engine.token,
        account=ACCOUNT,
    ) as found:
        yield found


async def test_an_ended_call_has_a_record(lab: Lab, api: RecordsApi) -> None:
    """The record has legs, talk and hold times, and is found by its filters."""
    began_ms = _wall_ms()
    async with Phone.answering(lab.trunk_port) as phone, Phone.ringing(free_port()) as far:
        action = {"type": "dial", "data": {"number": far.address}}
        call = await lab.call(
            account=ACCOUNT, to="+15550100", action=action, labels={"clientId": "c-7"}
        )
        await phone.wait_answered()
        await far.wait_ringing()
        rang_ms = _wall_ms()
        await far.pick_up()
        await lab.wait_for_state(call, "bridged")
        main = {"channelId": (await lab.engine.call(call))["mainChannelId"]}
        held_ms = _wall_ms()
        await lab.engine.rpc("POST", f"/calls/{call}/hold", main)
        on_hold_ms = _wall_ms()
        await phone.wait_spoken(1_000)
        off_hold_ms = _wall_ms()
        await lab.engine.rpc("POST", f"/calls/{call}/unhold", main)
        unheld_ms = _wall_ms()
        await phone.wait_spoken(500)
        hung_up_ms = _wall_ms()
        await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await phone.wait_ended()
        await far.wait_ended()
        await lab.wait_ended(call)
    ended_ms = _wall_ms()
    record = await _record(api, call)
    assert (record["toNumber"], record["status"], record["endedBy"]) == (
        "+15550100", "completed", "api",
    )  # fmt: skip
    assert began_ms - 50 <= _ms(record["startTime"]) <= _ms(record["answerTime"]) <= ended_ms
    assert hung_up_ms - 50 <= _ms(record["endTime"]) <= ended_ms
    parts = ("ringMs", "talkMs", "holdMs", "waitMs")
    assert sum(record[part] for part in parts) == record["durationMs"]
    assert off_hold_ms - on_hold_ms - 50 <= record["holdMs"] <= unheld_ms - held_ms + 50
    _main, other = record["legs"]
    assert (other["party"], other["status"]) == (far.address, "completed")
    assert other["answeredMs"] >= rang_ms - 50
    events = [each["event"] for each in record["timeline"]]
    assert (events[0], events[-1], "leg-held" in events) == ("initiated", "completed", True)
    for query in ({"clientId": "c-7"}, {"dialedNumber": far.address}, {"answerStatus": "answered"}):
        _, page = await api.request("GET", "/srmain/cdr", **{**FILTERS, **query})
        assert [each["reqId"] for each in page["data"]] == [call], query


async def test_an_unanswered_call_is_missed(lab: Lab, api: RecordsApi) -> None:
    """Its status is busy, and it has no talk time."""
    async with Phone.refusing(lab.trunk_port, 486) as phone:
        call = await lab.call(account=ACCOUNT, to="+15550101")
        await phone.wait_ended()
    record = await _record(api, call)
    assert (record["status"], record["answerStatus"], record["sipCode"]) == ("busy", "missed", 486)
    assert (record["talkMs"], record["holdMs"]) == (0, 0)
    assert "answerTime" not in record


async def _record(api: RecordsApi, call: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def is_there() -> bool:
        status, body = await api.request("GET", f"/srmain/cdr/{call}")
        found.update(body)
        return status == 200

    await until(is_there, what=f"the record of {call}")
    return found


def _ms(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() * 1_000


def _wall_ms() -> float:
    return time.time() * 1_000  # a record has wall-clock times
