"""The timeline over the RPC: commands and session states."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
import pytest

from engine.calls.model.call import Call
from engine.calls.model.events import ClockChanged, DigitPressed, LegAnswered, LegCreated
from engine.calls.model.requests import MuteRequested
from engine.calls.model.sealed_digits import MARK, TOKEN_LENGTH
from engine.calls.verbs.registry import MAX_VERBS_PERIOD_MS
from engine.rpc.problems import LimitReached
from engine.rpc.views.replay_points import START, ReplayPoint, ReplayPoints, TimelineCursor
from engine.rpc.views.timelines import (
    PIECE,
    PIECE_BYTES,
    CallHistory,
    TimelineTurns,
    build_timeline,
)
from tests.harness.calls.builders import MAIN, answered_call, outbound
from tests.harness.recorded_call import record_call
from tests.harness.rpc.conversation import talking
from tests.harness.rpc.scene import RpcScene, inject
from tests.harness.until import until
from wire.views import Timeline

MANY = 1_000


async def whole_timeline(call: Call, log: Sequence[bytes], max_rows: int = MANY) -> Timeline:
    timeline, _ = await build_timeline(CallHistory(call, log), max_rows=max_rows)
    return timeline


async def test_sessions_show_their_states(scene: RpcScene) -> None:
    """Of the emitted events, the timeline has only those with session states."""
    conversation = await talking(scene)
    await conversation.posted("hold", channelId=conversation.customer)
    await conversation.posted(
        "conference/members", requestedByAgentId="1001", targetExternalNumber="+4721930000"
    )
    result = _session_events(await conversation.shown("/timeline"))
    assert [(each["event"], each["sessionState"]) for each in result] == [
        ("conference", "init"),
        ("conference-member", "queued"),
    ]


async def test_the_main_channel_is_shown(scene: RpcScene) -> None:
    """The view names the leg on which the tree runs."""
    conversation = await talking(scene)
    assert (await conversation.shown())["mainChannelId"] == conversation.customer


async def test_a_started_verb_is_shown(scene: RpcScene) -> None:
    """The timeline has it once, with type and data, even if it sends no command like a pause."""
    pause = {"type": "pause", "data": {"length": 60.0}}
    call_id = await scene.start_call(action=pause)
    scene.pbx.settle()
    inject(scene, LegCreated(f"{call_id}.l0"))
    inject(scene, LegAnswered(f"{call_id}.l0"))
    story: dict[str, Any] = {}

    async def is_shown() -> bool:
        _, found = await scene.request("GET", f"/calls/{call_id}/timeline")
        story.update(found)
        return any(each["text"] == "pause of 60.0 s" for each in found["rows"])

    await until(is_shown)
    (row,) = [each for each in story["rows"] if each["details"] == pause]
    assert row["begins"] == [{"lifeline": "engine", "kind": "verb", "text": "pause"}]
    _, view = await scene.request("GET", f"/calls/{call_id}")
    assert (view["state"], view["verb"]) == ("pausing", "pause")


async def test_a_verb_after_some_minutes_is_shown() -> None:
    """Verbs are counted per period; a new count hides no verb, and a new clock shows none."""
    last = {"type": "pause", "data": {"length": 7}}
    long_pause = {"type": "pause", "data": {"length": MAX_VERBS_PERIOD_MS / 1000}, "action": last}
    story = answered_call(long_pause)
    story.take(ClockChanged(60_000), 1_000)
    story.now += 60_000
    story.pass_deadline()
    log = record_call(outbound(long_pause), story.events).log
    shown = [each.text for each in (await whole_timeline(story.call, log)).rows]
    assert [each for each in shown if each.startswith("pause of")] == [
        "pause of 300.0 s",
        "pause of 7.0 s",
    ]


async def test_sensitive_digits_are_dots() -> None:
    """Sealed digits appear neither as a key that was pressed nor in the request to the webhook."""
    sealed = MARK + "x" * (TOKEN_LENGTH - 1)
    gather = {
        "type": "gather",
        "data": {"sensitive": True, "maxDigits": 2},
        "action": "https://example.com/card",
    }
    story = answered_call(gather)
    for _ in range(2):
        story.now += 200
        story.take(DigitPressed(MAIN, sealed, story.now - 80, 80), 0)
    log = record_call(outbound(gather), story.events).log
    rows = (await whole_timeline(story.call, log)).rows
    assert [each.text for each in rows if each.kind == "digit"][-2:] == ["presses •"] * 2
    (sent,) = [each for each in rows if each.request and each.from_ == "engine"]
    assert sent.text.endswith("after gather: digits “••” (max-digits)")
    assert sent.details is not None
    assert sent.details["body"]["dtmf"] == "••"
    assert sealed not in str(rows)


async def with_turns(building: Coroutine[Any, Any, Timeline]) -> tuple[Timeline, int]:
    """Build a timeline; return it, and how many turns of the loop others had meanwhile."""
    task, turns = asyncio.create_task(building), 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1
    return await task, turns


async def test_live_calls_continue_while_a_long_timeline_is_built() -> None:
    """The event loop is free after some events; of many, the latest are shown."""
    action = {"type": "pause", "data": {"length": 80_000}}
    story = answered_call(action)
    for _ in range(100):
        story.take(MuteRequested(MAIN, "in"), 100)
        story.take(MuteRequested(MAIN, ""), 100)
    log = record_call(outbound(action), story.events).log

    whole, turns = await with_turns(whole_timeline(story.call, log))
    assert turns >= (len(log) - 1) // PIECE
    latest = await whole_timeline(story.call, log, max_rows=7)
    assert latest.rows == whole.rows[-7:]
    assert (whole.omitted, latest.omitted) == (0, len(whole.rows) - 7)


async def test_timelines_wait_for_one_another() -> None:
    """One is built at a time; an account with too many gets 429, and others do not."""
    turns, entered, go_on = TimelineTurns(3, 2), list[str](), asyncio.Event()

    async def take(account: str) -> None:
        async with turns.turn(account):
            entered.append(account)
            await go_on.wait()

    taking = [asyncio.create_task(take(each)) for each in ("a", "a", "b")]
    await until(lambda: bool(entered))
    with pytest.raises(LimitReached):
        await take("a")  # one account's
    with pytest.raises(LimitReached):
        await take("c")  # all
    assert entered == ["a"]
    go_on.set()
    await asyncio.gather(*taking)
    assert entered == ["a", "a", "b"]
    await take("c")


async def test_accounts_take_turns() -> None:
    """However many timelines of one account wait, another one's comes after the next of them."""
    turns, entered, go_on = TimelineTurns(10, 4), list[str](), asyncio.Event()

    async def take(account: str) -> None:
        async with turns.turn(account):
            entered.append(account)
            await go_on.wait()

    taking = [asyncio.create_task(take(each)) for each in ("a", "a", "a", "a", "b", "b")]
    await until(lambda: bool(entered))
    go_on.set()
    await asyncio.gather(*taking)
    assert entered == ["a", "a", "b", "a", "b", "a"]


async def test_live_calls_continue_beside_large_events() -> None:
    """The event loop is free after some bytes; of many bytes, the latest rows are shown."""
    action = {"type": "pause", "data": {"length": 80_000}}
    story = answered_call(action)
    for _ in range(20):
        story.take(MuteRequested("x" * PIECE_BYTES, "in"), 100)
    log = record_call(outbound(action), story.events).log

    whole, turns = await with_turns(whole_timeline(story.call, log))
    assert turns >= 20  # one for each event
    history = CallHistory(story.call, log)
    sizes = [len(msgspec.json.encode(each)) for each in whole.rows[-3:]]
    latest, _ = await build_timeline(history, max_bytes=sum(sizes))
    assert latest.rows == whole.rows[-3:]
    assert (latest.omitted, latest.next) == (len(whole.rows) - 3, whole.next)


async def test_the_latest_row_is_shown_in_any_case() -> None:
    """However large it is."""
    story = answered_call({"type": "pause", "data": {"length": 7}})
    log = record_call(outbound({"type": "pause", "data": {"length": 7}}), story.events).log
    whole = await whole_timeline(story.call, log)
    latest, _ = await build_timeline(CallHistory(story.call, log), max_bytes=1)
    assert latest.rows == whole.rows[-1:]
    assert latest.omitted == len(whole.rows) - 1


async def test_what_is_new(scene: RpcScene) -> None:
    """With `next` as `after` a timeline goes on."""
    conversation = await talking(scene)
    whole = await conversation.shown("/timeline")
    same = await conversation.shown(f"/timeline?after={whole['next']}")
    assert (same["rows"], same["next"]) == ([], whole["next"])
    for path in ("hold", "unhold"):
        await conversation.posted(path, channelId=conversation.customer)
    more = await conversation.shown(f"/timeline?after={whole['next']}")
    texts = [each["text"] for each in more["rows"] if each["text"].startswith("request")]
    assert texts == ["request: hold A", "request: unhold A"]
    again = await conversation.shown("/timeline")
    assert (again["rows"], again["next"]) == (whole["rows"] + more["rows"], more["next"])
    assert again["lifelines"] == more["lifelines"]


@pytest.mark.parametrize("after", ["", "1", "x.0-0", "-1.0-0", "1.0", "²2.0-0"])
async def test_a_cursor_of_no_timeline(scene: RpcScene, after: str) -> None:
    """The error names the parameter."""
    call = await scene.start_call()
    status, problem = await scene.request("GET", f"/calls/{call}/timeline?after={after}")
    assert (status, problem["errors"][0]["path"]) == (400, "after")


async def test_a_replay_goes_on_where_one_ended() -> None:
    """Only new lines are read; a start in the middle has the same rows, lifelines and verbs."""
    action = {"type": "pause", "data": {"length": 7}, "action": {"type": "hangup"}}
    story = answered_call(action)
    story.pass_deadline()
    log = record_call(outbound(action), story.events).log
    whole = await whole_timeline(story.call, log)
    for lines in range(2, len(log)):
        before, start = await build_timeline(CallHistory(story.call, log[:lines]))
        assert start.lines == lines
        cursor, new = TimelineCursor(lines), log[lines:]
        shown, end = await build_timeline(CallHistory(story.call, new, after=cursor, start=start))
        assert (*before.rows, *shown.rows) == whole.rows
        assert (end.lines, shown.next, shown.lifelines) == (len(log), whole.next, whole.lifelines)


async def test_points_of_replays() -> None:
    """The latest one that is not later than needed; of many, the one of no use is dropped."""
    call, points = answered_call(None).call, ReplayPoints(most=3)
    for lines in (2, 5, 9):
        points.add("c1", ReplayPoint(lines, call))
    assert [points.before("c1", each).lines for each in (9, 8, 5, 4, 1)] == [9, 5, 5, 2, 0]
    assert points.before("c2", 9) == START
    points.add("c2", ReplayPoint(3, call))
    assert [points.before("c1", each).lines for each in (9, 5)] == [5, 5]
    points.add("c2", START)
    assert points.before("c2", 2) == START


def _session_events(story: Any) -> list[dict[str, Any]]:
    return [each["details"] for each in story["rows"] if "sessionState" in each["details"]]
