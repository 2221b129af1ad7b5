"""Sensitive gathers: their digits reach their webhook and nothing else (M11, decision 0045)."""

import os
from typing import Any

import msgspec
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from engine.calls.model.events import DigitPressed, LegAnswered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import ActionFailed, ActionReceived
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.sealed_digits import MARK, TOKEN_LENGTH
from engine.calls.model.storage_format import decode_stored_call, encode
from engine.calls.replay_audit import compare_decisions, replay
from engine.runtime.io.digit_sealer import DigitSealer, UnreadableDigits
from engine.runtime.pbx_nodes.recent_digits import RETENTION_MS, RecentDigits
from engine.runtime.shard.live_call import LiveCall
from tests.harness.calls.builders import MAIN, outbound
from tests.harness.runtime.shard_scene import ManualClock, ShardScene
from wire.decoding.errors import BadInput
from wire.tree import parse_action

HOOK = "https://example.com/card"
CARD = "4929771066514035"
PINS = st.text("0123456789ABCD", min_size=1, max_size=20)


class ConstantSealer:
    """Seals every digit alike."""

    def seal(self, _call_id: str, _digit: str) -> str:
        return MARK + "x" * (TOKEN_LENGTH - 1)


def gather(action: Any = HOOK, **data: Any) -> dict[str, Any]:
    return {"type": "gather", "data": {"sensitive": True, **data}, "action": action}


def gathering(scene: ShardScene, tree: Any, **fields: Any) -> LiveCall:
    live_call = scene.shard.start_call(outbound(tree, **fields))
    scene.pbx.settle()
    scene.shard.feed(live_call, LegAnswered(MAIN))
    return live_call


def press(scene: ShardScene, live_call: LiveCall, digits: str) -> None:
    for digit in digits:
        scene.clock.pass_ms(200)
        scene.shard.feed(live_call, DigitPressed(MAIN, digit, scene.clock.now - 80, 80))


def webhooks(live_call: LiveCall) -> list[SendWebhook]:
    return [each for each in live_call.outbox.commands if isinstance(each, SendWebhook)]


def written(scene: ShardScene) -> bytes:
    """Return all that the store and the event stream get, and all requests to the PBX."""
    return encode([scene.writer.changes, scene.pbx.lines])


def enter(digits: str, *, then: str = "") -> tuple[bytes, object]:
    """Return what is written and logged for the digits of a caller, and then for those after."""
    scene = ShardScene()
    scene.io.sealer = ConstantSealer()  # type: ignore[assignment]  # seals only
    with structlog.testing.capture_logs() as lines:
        play = {"type": "play", "data": {"audioUrl": "https://example.com/a.wav"}}
        live_call = gathering(scene, {**play, "action": gather(maxDigits=len(digits))})
        press(scene, live_call, digits[:1])  # typed ahead
        scene.clock.pass_ms(30_000)  # the prompt is not available
        scene.shard.feed(live_call, LegAnswered(MAIN))
        press(scene, live_call, digits[1:])
        press(scene, live_call, then)
        for command in webhooks(live_call):
            scene.shard.feed(live_call, ActionFailed(command.request, "refused"))
    return written(scene), lines


@given(PINS, PINS, st.data())
def test_nothing_that_is_stored_depends_on_sensitive_digits(
    digits: str, then: str, data: st.DataObject
) -> None:
    """Call, log, outbox, events, callbacks, record, requests and log lines are the same for all."""
    keys = "0123456789ABCD"
    others = data.draw(st.text(keys, min_size=len(digits), max_size=len(digits)))
    later = data.draw(st.text(keys, min_size=len(then), max_size=len(then)))
    assert enter(digits, then=then) == enter(others, then=later)


def test_the_webhook_gets_the_digits() -> None:
    """Also if another engine sends the request, with the same secret."""
    scene = ShardScene()
    live_call = gathering(scene, gather())
    press(scene, live_call, f"{CARD}#")
    (webhook,) = webhooks(live_call)
    stored = decode_stored_call(scene.writer.changes[-1].state)
    assert webhook in stored.outbox
    assert CARD.encode() not in written(scene)
    assert CARD.encode() not in webhook.body
    other = DigitSealer(("new", "secret"), os.urandom)
    body = msgspec.json.decode(other.open_result(live_call.call.id, webhook.body)[0])
    assert (body["dtmf"], body["reason"]) == (CARD, "terminator")


def test_sealed_digits_belong_to_their_call() -> None:
    """Neither another call's webhook nor another secret opens them."""
    sealer = DigitSealer(("secret",), os.urandom)
    sealed = sealer.seal("0-pbx1-a", "7")
    assert sealer.open("0-pbx1-a", f"1{sealed}") == "17"
    with pytest.raises(UnreadableDigits):
        sealer.open("0-pbx1-b", sealed)
    with pytest.raises(UnreadableDigits):
        DigitSealer(("other",), os.urandom).open("0-pbx1-a", sealed)


def test_the_log_replays() -> None:
    """With the sealed digits: the replay needs no key."""
    scene = ShardScene()
    live_call = gathering(scene, gather(maxDigits=4))
    press(scene, live_call, "1234")
    steps = list(replay([line for change in scene.writer.changes for line in change.log]))
    assert not list(compare_decisions(steps))
    assert steps[-1].call == live_call.call


def test_events_and_the_record_omit_the_digits() -> None:
    """The reason remains."""
    scene = ShardScene()
    live_call = gathering(scene, gather(maxDigits=4))
    press(scene, live_call, "1234")
    (collected,) = live_call.call.gathered
    assert (collected.digits, collected.reason) == ("", "max-digits")


def test_a_later_gather_does_not_get_them() -> None:
    """Digits typed ahead after a sensitive gather are for sensitive ones only."""
    scene = ShardScene()
    live_call = gathering(scene, gather(maxDigits=2))
    press(scene, live_call, "1234")
    (webhook,) = webhooks(live_call)
    tree = parse_action(msgspec.json.encode({"type": "gather", "action": HOOK}))
    scene.shard.feed(live_call, ActionReceived(webhook.request, tree))
    press(scene, live_call, "5#")
    assert msgspec.json.decode(webhooks(live_call)[-1].body)["dtmf"] == "5"


def test_a_second_sensitive_gather_gets_them() -> None:
    """A caller may type the security code at once after the card number."""
    scene = ShardScene()
    live_call = gathering(scene, gather(maxDigits=2))
    press(scene, live_call, "12345")
    (webhook,) = webhooks(live_call)
    tree = parse_action(msgspec.json.encode(gather(maxDigits=3)))
    scene.shard.feed(live_call, ActionReceived(webhook.request, tree))
    body = webhooks(live_call)[-1].body
    opened = msgspec.json.decode(scene.io.sealer.open_result(live_call.call.id, body)[0])
    assert opened["dtmf"] == "345"


@pytest.mark.parametrize(
    "following",
    [
        {"type": "stream", "data": {"url": "wss://bot.example/"}},
        {"type": "record", "data": {"maxLength": 10}},
        {"type": "dial", "data": {"number": "+4712345678"}},
    ],
)
def test_the_rest_of_a_secret_is_sealed_whatever_runs_then(following: dict[str, Any]) -> None:
    """A caller types on, because the gather took fewer digits than the number has."""
    assert _typed_on(following, "7391") == _typed_on(following, "2846")


def _typed_on(following: dict[str, Any], digits: str) -> bytes:
    """Return what is written when a caller types on after a sensitive gather."""
    scene = ShardScene()
    scene.io.sealer = ConstantSealer()  # type: ignore[assignment]  # seals only
    live_call = gathering(scene, gather(maxDigits=2))
    press(scene, live_call, "12")
    (webhook,) = webhooks(live_call)
    tree = parse_action(msgspec.json.encode(following))
    scene.shard.feed(live_call, ActionReceived(webhook.request, tree))
    press(scene, live_call, digits)
    return written(scene)


def test_the_recording_is_muted_meanwhile() -> None:
    """From the start of the gather to its end."""
    scene = ShardScene()
    destination = RecordingDestination("https://example.com/", "acme/2026-01-01")
    live_call = gathering(
        scene,
        {"type": "pause", "data": {"length": 1}, "action": gather(maxDigits=1)},
        recording_destination=destination,
        recording_enabled=True,
    )
    assert not live_call.call.recordings[-1].muted
    scene.clock.pass_ms(1_100)
    assert live_call.call.recordings[-1].muted
    press(scene, live_call, "1")
    assert not live_call.call.recordings[-1].muted


def test_the_memory_of_ami_forgets_them() -> None:
    """The owner when the gather ends; every other engine after a minute, without another digit."""
    scene = ShardScene()
    live_call = gathering(scene, gather(maxDigits=2))
    press(scene, live_call, "12")
    assert scene.host.forgotten == [MAIN]
    clock = ManualClock()
    recent = RecentDigits(clock)
    recent.on_digit(MAIN, "1", 80, clock.now)
    assert recent.digits
    clock.pass_ms(RETENTION_MS + 1)
    assert not recent.digits
    recent.on_digit(MAIN, "1", 80, clock.now)
    recent.forget(MAIN)
    assert not recent.digits


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        (gather(action={"type": "hangup"}), "action"),
        (gather(action=None), "action"),
        (gather(terminator="5"), "data.terminator"),
    ],
)
def test_only_a_webhook_may_get_them(verb: dict[str, Any], path: str) -> None:
    """A digit as terminator could not be sealed."""
    with pytest.raises(BadInput) as found:
        parse_action(msgspec.json.encode(verb))
    assert found.value.path == path
