"""The tables of the performance page."""

from tools.bench.figure import figure
from tools.bench.report import anchored_table, number, other_table


def test_ratios_to_the_bare_application() -> None:
    """A row has both benches side by side; what a bench did not measure is empty."""
    figures = [
        figure("ivr50", "engine_cpu", 8.42, "ms/call", 2.1),
        figure("ivr50_engine", "engine_cpu", 6.3, "ms/call", 2.0),
        figure("ivr50", "rest_cpu", 1.334, "ms/call"),
        figure("ivr50", "asterisk_to_dialplan", 1.1, "ratio", 1.0),
    ]
    rows = [line.split(" | ") for line in anchored_table({each.name: each for each in figures})]
    by_name = {row[0].removeprefix("| "): row[1:5] for row in rows}
    assert by_name["engine's CPU a call"] == ["4.01", "8.42, 2.1 ms", "3.15", "6.3, 2 ms"]
    assert by_name["REST layer's CPU a call"] == ["", "1.33 ms", "", ""]
    assert by_name["the same, relative to the dialplan's call"][:2] == ["1.1", "1.1, 1"]


def test_only_what_was_measured_is_listed() -> None:
    """The second table leaves out what no bench has measured."""
    found = figure("capacity", "highest_rate", 95, "calls/s", 100)
    rows = other_table({found.name: found})[2:]
    values = "| highest rate without a failure | 95 calls/s | 100 | 0.95 |"
    assert rows == [f"{values} ratio 0.95 | `capacity.highest_rate` |"]


def test_numbers_have_three_digits() -> None:
    """Small numbers are rounded to three digits, large ones to whole numbers."""
    numbers = [number(each) for each in (None, 0.0042, 1.234, 12.345, 138_000.4)]
    assert numbers == ["", "0.0042", "1.23", "12.3", "138,000"]
