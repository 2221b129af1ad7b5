"""The digits of the last minute on a node: ordered and bounded."""

import re

import pytest

from engine.calls.model.events import DigitPressed
from engine.runtime.pbx_nodes.recent_digits import (
    MAX_DELAY_MS,
    MAX_DIGITS_PER_LEG,
    MAX_LEGS,
    MIN_DELAY_MS,
    PERIOD_MS,
    RETENTION_MS,
    EventDelay,
    RecentDigits,
    RepeatedKeys,
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


LEG = "1.1"
STARTED_MS = 1_000_000
_REPORT = re.compile(r"([BE])(.)@(\d+)(?:\((\d+)\))?")


def keys_of(reports: str) -> str:
    """Return the keys that the reports are taken for."""
    heard, keys = RepeatedKeys(), ""
    for kind, digit, at_ms, held_ms in _REPORT.findall(reports):
        now = STARTED_MS + int(at_ms)
        if kind == "B":
            heard.begin(LEG, now)
        elif not heard.is_repeat(LEG, digit, int(held_ms or 80), now):
            keys += digit
    return keys


@pytest.mark.parametrize(
    ("reports", "keys"),
    [
        ("B1@0 E1@45 E1@81 E1@94 E5@481 B5@482 E5@562 E5@607", "15"),
        ("B1@0 E1@45 E1@80 E1@90 B1@162 E1@215 E1@245 E1@341", "11"),
        ("E1@0 B1@32 E1@112 E1@126 E5@514 B5@545 E5@625 E5@639", "15"),
        ("E1@0 B1@30 E1@110 E1@125 E1@251 B1@252 E1@303 E1@377", "11"),
        ("E1@0 B1@30 E1@110 E1@125 E1@525 B1@555 E1@635 E1@650", "11"),
        ("B1@0 E1@81 E1@81 E1@126 B5@482 E5@527 E5@563 E5@572", "15"),
        ("B1@0 E1@82 E1@142 B5@485 E5@567 E5@627", "15"),
        ("B1@0 E1@81 E1@142 B1@162 E1@243 E1@267 E1@392", "11"),
        ("B1@0 E1@81 E1@182 B1@265 E1@344 E1@469", "11"),
        ("B1@0 E1@45 E1@2000(2000)", "1"),
        # with 250 and 500 ms in INFO, for which Asterisk emulates the key
        ("E1@0(250) B1@2 E1@202 E1@295 B1@303 E1@541(250) E1@541 E1@836", "11"),
        ("B1@0 E1@81(250) E1@81 E1@126 B1@181 E1@263(250) E1@264 E1@558", "11"),
        ("B1@0 E1@81 E1@141(250) B1@184 E1@265 E1@436 E1@562(250)", "11"),
        ("E1@0(500) B1@0 E1@101 E1@547 E1@694(500) B1@695 E1@695 E1@1240", "11"),
        ("E9@1578(250) B9@1580 E9@1579(200) E9@1873 E9@2118(250) B9@2119 E9@2119 E9@2414", "99"),
        ("B1@0 E1@46(500) E1@100 E5@502(500) B5@502 E5@603 E5@1048", "15"),
    ],
)
def test_a_key_as_info_and_as_events(reports: str, keys: str) -> None:
    """At the press, before it, meanwhile, at the release, after it; equal keys are two."""
    assert keys_of(reports) == keys


@pytest.mark.parametrize(
    "reports",
    [
        "B1@0 E1@82 E1@82 E1@126 E1@126 E1@251 B1@252 E1@252 E1@377 E1@377 E1@501 E1@627",
        "B1@0 E1@50(50) B1@100 E1@150(50) E1@195(50)",
    ],
    ids=["ends with times of their own", "short keys"],
)
def test_a_key_that_asterisk_reports_again(reports: str) -> None:
    """Once for each of its end packets, or when it is read again."""
    assert keys_of(reports) == "11"


@pytest.mark.parametrize(
    "reports",
    [
        "B1@0 E1@80 B1@160 E1@240",
        "B1@0 E1@50(50) B1@100 E1@150(50)",
        "E1@0 E1@120",  # INFO
        "E1@0(50) E1@101(50)",
        "E1@0(250) E1@160(250)",
        "E1@880 B1@960 E1@1040",  # Asterisk reports no beginning in the first second of a call
        "B1@400 E1@480 E1@640",
        "B1@9 B1@36 E1@57 E1@93(57)",
    ],
)
def test_equal_keys_at_once_are_two(reports: str) -> None:
    """As telephone-events, also overlapping, as INFO, and where no beginning is reported."""
    assert keys_of(reports) == "11"


def test_a_beginning_that_is_reported_late() -> None:
    """It is that of the key before, so the next one has not begun."""
    assert keys_of("E1@80 E2@240 B2@160 E2@255 E3@400 B3@320 E4@560") == "1234"


def test_the_clock_of_the_pbx_is_set_back() -> None:
    """The next key is no repetition."""
    assert keys_of("B1@900000 E1@900080 E1@80") == "11"


def test_legs_are_apart_and_bounded() -> None:
    """Keys are those of one leg; the last one of a leg may be forgotten."""
    heard = RepeatedKeys()
    for leg in ("first", "other"):
        heard.begin(leg, 1)
        assert not heard.is_repeat(leg, "1", 80, 81)
    assert heard.is_repeat("first", "1", 80, 126)
    heard.forget("first")
    assert not heard.is_repeat("first", "1", 80, 171)
    for number in range(MAX_LEGS):
        heard.begin(f"{number}", 1)
    assert not heard.is_repeat("other", "1", 80, 126)
    heard.clear()
    assert not heard.is_repeat("1", "1", 80, 81)


PBX_MS = NOW - 3_600_000  # its clock is an hour slow


def test_events_that_waited_are_late() -> None:
    """By how much longer they took than the quickest one of late."""
    delay = EventDelay()
    assert delay.measure(PBX_MS, NOW + 5) == 0
    assert delay.measure(PBX_MS + 100, NOW + 102) == 0
    assert delay.measure(PBX_MS + 200, NOW + 1_702) == 1_500
    assert delay.measure(PBX_MS + 1_700, NOW + 1_702 + MIN_DELAY_MS - 1) == 0


def test_a_freeze_may_follow_a_long_silence() -> None:
    """The quickest event of the period before still counts."""
    delay = EventDelay()
    delay.measure(PBX_MS, NOW)
    later = 10 * PERIOD_MS
    assert delay.measure(PBX_MS + later, NOW + later + 800) == 800


def test_a_clock_that_drifts_is_followed() -> None:
    """After two periods, the events of before count no more."""
    delay = EventDelay()
    for period in range(4):
        passed = period * (PERIOD_MS + 1)
        assert delay.measure(PBX_MS + passed - 60 * period, NOW + passed) <= 120
    assert delay.measure(PBX_MS + passed - 180, NOW + passed) == 0


def test_a_clock_that_was_set_makes_no_event_late() -> None:
    """Neither the PBX's nor the engine's."""
    delay = EventDelay()
    delay.measure(PBX_MS, NOW)
    assert delay.measure(PBX_MS - MAX_DELAY_MS, NOW + 1) == 0
    assert delay.measure(PBX_MS - MAX_DELAY_MS + 100, NOW + 901) == 800
    delay.change_clock(7_200_000)
    assert delay.measure(PBX_MS - MAX_DELAY_MS + 1_000, NOW + 7_201_001) == 0
