"""Reports of digits that repeat a key, as measured at Asterisk 22.10.1: `B1@0 E1@81`.

`B` is the beginning of a key, `E` the report of its end, at a time in milliseconds; all keys are
held for 80 ms, or for what is in parentheses.
"""

import re

import pytest

from engine.runtime.pbx_nodes.recent_digits import MAX_LEGS, RepeatedKeys

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
