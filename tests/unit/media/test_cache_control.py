"""How long a clip is fresh, by its Cache-Control header, and which ETags are kept."""

import pytest

from engine.media.clip_maker import fresh_ms, usable_etag


@pytest.mark.parametrize(
    ("header", "expected_ms"),
    [
        ("", 3_600_000),
        ("public", 3_600_000),
        ("public, max-age=120", 120_000),
        ('Max-Age = "60"', 60_000),
        ("s-maxage=5", 3_600_000),
        ("max-age=0", 10_000),
        ("no-cache", 10_000),
        ("no-store, max-age=300", 10_000),
        ("max-age=999999999", 604_800_000),
    ],
)
def test_fresh(header: str, expected_ms: int) -> None:
    """max-age is honoured between ten seconds and a week; without it an hour holds."""
    assert fresh_ms(header, default_ms=3_600_000, min_ms=10_000) == expected_ms


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ('"v1"', '"v1"'),
        ('W/"v 1"', 'W/"v 1"'),
        ("", ""),
        ('"pris-\udce5"', ""),  # a byte of Latin-1, as the HTTP client reads it
        ('"pris-å"', ""),
        ('"a\tb"', ""),
    ],
)
def test_etags_that_can_be_stored_are_kept(header: str, kept: str) -> None:
    """Others are dropped: half of a surrogate pair can be neither stored nor sent back."""
    assert usable_etag(header) == kept
