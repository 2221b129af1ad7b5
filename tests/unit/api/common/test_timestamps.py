"""ISO 8601 times as people write them."""

import pytest

from api.common.timestamps import format_ms, parse_ms

NOON = "2026-11-21T12:00:00.000Z"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T12:00:00Z",
        "2026-11-21 12:00:00",
        "2026-11-21T12:00",
        "2026-11-21t12:00:00z",
        "2026-11-21T13:00:00 01:00",
        "2026-11-21 13:00:00+0100",
        " 2026-11-21T12:00:00.000Z ",
    ],
)
def test_forms_of_a_time(text: str) -> None:
    """A space for the T, no seconds, no zone, a plus sign that was not escaped."""
    assert format_ms(parse_ms(text)) == NOON


def test_a_date_is_a_whole_day() -> None:
    """It starts at midnight, UTC; as an end it includes the day."""
    assert format_ms(parse_ms("2026-11-21")) == "2026-11-21T00:00:00.000Z"
    assert format_ms(parse_ms("2026-11-21", is_end=True)) == "2026-11-22T00:00:00.000Z"
    assert format_ms(parse_ms("2026-11-21T12:00", is_end=True)) == NOON


@pytest.mark.parametrize("text", ["", "2026-11-21T", "2026-11-21 01:00Z!", "2026-02-30", "21.11."])
def test_what_is_no_time(text: str) -> None:
    """Anything else is an error."""
    with pytest.raises(ValueError, match="ISO 8601"):
        parse_ms(text)
