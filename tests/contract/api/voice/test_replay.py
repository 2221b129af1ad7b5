"""A call's replay over REST: whether the engine would do the same now, and of whose calls."""

from typing import Any

from msgspec.structs import replace

from api.voice.replay import STATE_DIFFERS
from base.timeline.rows import FIELDS_OF_OPERATORS
from engine.calls.model.storage_format import decode_log_entry, encode
from engine.store.change import Change
from tests.harness.api.rest import Rest
from tests.harness.calls.builders import ID
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.preparation import stored, talked


def path_of(call: str) -> str:
    return f"/srmain/voice/call/{call}/replay"


async def replayed(rest: Rest, call: str) -> Any:
    """Return a replay that must be found."""
    answer = await rest.request("GET", path_of(call))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_call_that_replays_the_same(kept: Rest) -> None:
    """A live one, too; each step with a checksum is compared."""
    talk = await talking(kept.scene)
    found = await replayed(kept, talk.call)
    assert (found["callId"], found["isSame"], found["isLive"]) == (talk.call, True, True)
    assert found["compared"] == found["steps"] - 1 > 3
    assert (found["gap"], found["differences"]) == (None, [])


async def test_a_step_that_differs(rest: Rest) -> None:
    """It has its number, its time, and what the engine would do, without what is the operator's."""
    change = talked().change()
    entry = decode_log_entry(change.log[3])
    forged = encode(replace(entry, digest=entry.digest ^ 1))
    await stored(rest.scene, replace(change, log=(*change.log[:3], forged, *change.log[4:])))
    found = await replayed(rest, ID)
    (difference,) = found["differences"]
    assert (found["isSame"], difference["about"], difference["step"]) == (False, "commands", 3)
    assert difference["atMs"] > 0
    assert difference["event"]["type"] == "leg-answered"
    assert "originate" in [each["type"] for each in difference["commands"]]
    names = {name for each in difference["commands"] for name in each}
    assert not names & FIELDS_OF_OPERATORS
    rows = (await rest.request("GET", f"/srmain/voice/call/{ID}/timeline")).json()["rows"]
    assert difference["atMs"] in [each["atMs"] for each in rows]


async def test_another_state_is_said_without_its_fields(rest: Rest) -> None:
    """Names of fields within an engine are no customer's."""
    whole = talked()
    await stored(rest.scene, replace(whole, call=replace(whole.call, status="failed")).change())
    found = await replayed(rest, ID)
    assert [(each["about"], each["detail"]) for each in found["differences"]] == [
        ("state", STATE_DIFFERS)
    ]


async def test_events_on_the_stream_are_not_compared(rest: Rest) -> None:
    """They lie between those of other accounts, and are read for operators only."""
    change = talked().change()
    await stored(rest.scene, replace(change, events=change.events[:1]))
    assert (await replayed(rest, ID))["isSame"]
    _, whole = await rest.scene.request("GET", f"/calls/{ID}/replay")
    assert not whole["isSame"]


async def test_a_gap_is_reported(rest: Rest) -> None:
    """What the store has lost cannot be compared."""
    change = talked().change()
    await stored(rest.scene, replace(change, log=(*change.log[:4], b"", *change.log[5:])))
    assert (await replayed(rest, ID))["gap"] == 4


async def test_a_call_of_a_later_version(rest: Rest) -> None:
    """It is a conflict, as this engine cannot read it."""
    await stored(rest.scene, Change(ID, "pbx1", b"\xc1", 0, (b"line",), live=False))
    assert (await rest.rejected("GET", path_of(ID)))[:2] == (409, "conflict")


async def test_another_accounts_call_is_not_found(kept: Rest) -> None:
    """Nor is it for an agent's token, which lacks the scope."""
    talk = await talking(kept.scene)
    other = await kept.token_of("other", "other")
    rejected = await kept.rejected("GET", path_of(talk.call), token=other)
    assert rejected[:2] == (404, "not_found")
    assert (await kept.rejected("GET", path_of("0-pbx1-gone")))[0] == 404
    agents = await kept.token_of("1001")
    assert (await kept.rejected("GET", path_of(talk.call), token=agents))[:2] == (403, "scope")
