"""The digits of the last minute on a node: ordered and bounded."""

from engine.calls.model.events import DigitPressed
from engine.runtime.pbx_nodes.recent_digits import (
    MAX_DIGITS_PER_LEG,
    MAX_LEGS,
    RETENTION_MS,
    RecentDigits,
)
from tests.harness.calls.builders import CHANNEL, MAIN, NOW
from tests.harness.runtime.shard_scene import ManualClock


def test_digits_are_kept_by_leg() -> None:
    """Each has its key-down time by this engine's clock and its time by the PBX's clock."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    recent_digits.on_digit(MAIN, "1", 80, 5_000)
    recent_digits.on_digit(CHANNEL, "2", 90, 5_010)
    clock.now += 300
    recent_digits.on_digit(MAIN, "3", 100, 5_300)
    first = DigitPressed(MAIN, "1", NOW - 80, 80, 5_000, missed=True)
    assert recent_digits.digits[MAIN] == [
        first,
        DigitPressed(MAIN, "3", NOW + 200, 100, 5_300, missed=True),
    ]
    assert [each.digit for each in recent_digits.digits[CHANNEL]] == ["2"]


def test_old_digits_are_evicted() -> None:
    """A leg's digits expire with its latest digit."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    recent_digits.on_digit(MAIN, "1", 80, 1)
    recent_digits.on_digit(CHANNEL, "1", 80, 1)
    clock.now += RETENTION_MS
    recent_digits.on_digit(MAIN, "2", 80, 2)
    assert len(recent_digits.digits) == 2
    clock.now += 1
    recent_digits.on_digit(MAIN, "3", 80, 3)
    assert list(recent_digits.digits) == [MAIN]
    assert len(recent_digits.digits[MAIN]) == 3


def test_digits_are_evicted_without_another_one() -> None:
    """They may be sensitive: those of each leg when their time is over, wherever the clock is."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    recent_digits.on_digit(MAIN, "1", 80, 5_000)
    clock.pass_ms(1_000)
    recent_digits.on_digit(CHANNEL, "2", 80, 6_000)
    assert [(each[0].pressed_ms, each[0].pbx_ms) for each in recent_digits.digits.values()] == [
        (NOW - 80, 5_000),
        (NOW + 920, 6_000),
    ]
    clock.pass_ms(RETENTION_MS - 1_000)
    assert list(recent_digits.digits) == [MAIN, CHANNEL]
    clock.pass_ms(1)
    assert list(recent_digits.digits) == [CHANNEL]
    recent_digits.change_clock(-500)
    assert recent_digits.digits[CHANNEL][0].pressed_ms == NOW + 420
    clock.pass_ms(1_000)
    assert recent_digits.digits == {}


def test_the_log_is_bounded() -> None:
    """Digits per leg and legs are limited: the oldest are evicted."""
    recent_digits = RecentDigits(ManualClock())
    for position in range(MAX_DIGITS_PER_LEG + 1):
        recent_digits.on_digit(MAIN, "1", 80, position)
    assert [each.pbx_ms for each in recent_digits.digits[MAIN]] == list(
        range(1, MAX_DIGITS_PER_LEG + 1)
    )
    for position in range(MAX_LEGS):
        recent_digits.on_digit(f"1.{position}", "1", 80, 1)
    assert len(recent_digits.digits) == MAX_LEGS
    assert MAIN not in recent_digits.digits
    recent_digits.add_missed(
        DigitPressed(MAIN, "1", NOW, 80, position) for position in range(MAX_DIGITS_PER_LEG + 2)
    )
    assert len(recent_digits.digits[MAIN]) == MAX_DIGITS_PER_LEG
    assert recent_digits.digits[MAIN][0].pbx_ms == 2


def test_keys_that_are_down() -> None:
    """Each until its release, for a minute, or until the connection is lost."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    recent_digits.on_digit_started(MAIN, clock.now)
    clock.now += 500
    recent_digits.on_digit_started(CHANNEL, clock.now)
    assert recent_digits.keys_down == {MAIN: NOW, CHANNEL: NOW + 500}
    recent_digits.on_digit(CHANNEL, "2", 90, 5_010)
    assert recent_digits.keys_down == {MAIN: NOW}
    clock.now += RETENTION_MS
    recent_digits.on_digit_started(CHANNEL, clock.now)
    assert recent_digits.keys_down == {CHANNEL: clock.now}
    recent_digits.change_clock(5)
    assert recent_digits.keys_down == {CHANNEL: clock.now + 5}
    recent_digits.on_disconnected()
    assert recent_digits.keys_down == {}


def test_a_key_went_down_before_it_was_reported() -> None:
    """Its report waited in the socket while the engine was frozen."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    recent_digits.on_digit(MAIN, "1", 80, 5_000)
    clock.now += 1_500
    recent_digits.on_digit_started(MAIN, 5_600)
    assert recent_digits.keys_down == {MAIN: NOW + 600}


def test_digits_of_another_engine_are_merged() -> None:
    """Those that both engines have heard count once; the order is that of the PBX."""
    recent_digits = RecentDigits(ManualClock())
    recent_digits.on_digit(MAIN, "2", 80, 5_300)
    missed = DigitPressed(MAIN, "1", NOW - 500, 80, 5_000, missed=True)
    heard = DigitPressed(MAIN, "2", NOW - 90, 80, 5_300, missed=True)
    other = DigitPressed(CHANNEL, "7", NOW - 700, 80, 4_800, missed=True)
    recent_digits.add_missed([heard, missed, other])
    assert [each.digit for each in recent_digits.digits[MAIN]] == ["1", "2"]
    assert recent_digits.digits[CHANNEL] == [other]
    recent_digits.add_missed([DigitPressed(CHANNEL, "1", NOW - RETENTION_MS - 200, 80, 1)])
    assert [each.digit for each in recent_digits.digits[CHANNEL]] == ["1", "7"]


def test_digits_are_complete_after_a_minute() -> None:
    """An engine that was connected for that long asks no other one."""
    clock = ManualClock()
    recent_digits = RecentDigits(clock)
    assert recent_digits.heard_ms is None
    recent_digits.on_connected()
    clock.now += RETENTION_MS - 1
    assert not recent_digits.is_complete
    clock.now += 7
    recent_digits.change_clock(7)
    assert recent_digits.heard_ms == RETENTION_MS - 1
    clock.now += 1
    assert recent_digits.is_complete
    recent_digits.on_disconnected()
    assert not recent_digits.is_complete


def test_a_repeated_key_is_left_out() -> None:
    """Of both sources, as long as AMI reports the beginnings of keys."""
    recent_digits = RecentDigits(ManualClock())
    delivered = [DigitPressed(MAIN, "1", NOW, 80, up_ms) for up_ms in (5_080, 5_125)]
    assert [recent_digits.is_repeat(each) for each in delivered] == [False, False]
    recent_digits.on_connected()
    recent_digits.on_digit_started(MAIN, 5_000)
    for each in delivered:
        recent_digits.on_digit(MAIN, "1", 80, each.pbx_ms)
    assert len(recent_digits.digits[MAIN]) == 1
    assert [recent_digits.is_repeat(each) for each in delivered] == [False, True]
    recent_digits.on_disconnected()
    assert not recent_digits.is_repeat(delivered[1])


def test_a_sensitive_key_is_not_another_gathers() -> None:
    """It is collected and forgotten, and then Asterisk reports it again."""
    recent_digits = RecentDigits(ManualClock())
    recent_digits.on_connected()
    recent_digits.on_digit_started(MAIN, 5_000)
    recent_digits.on_digit(MAIN, "1", 80, 5_080)
    assert not recent_digits.is_repeat(DigitPressed(MAIN, "1", NOW, 80, 5_080))
    recent_digits.forget(MAIN)
    recent_digits.on_digit(MAIN, "1", 80, 5_125)
    assert MAIN not in recent_digits.digits
    assert recent_digits.is_repeat(DigitPressed(MAIN, "1", NOW, 80, 5_125))
