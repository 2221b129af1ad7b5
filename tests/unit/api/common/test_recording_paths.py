"""Paths of recordings in an archive."""

import pytest

from api.common.errors import NotFound
from api.common.recording_paths import path_of_url, recording_path

FILE = "0-pbx1-abcdefgh.wav"


def test_the_path_of_an_address() -> None:
    """Whatever the archive's address is."""
    for base in ("s3://bucket", "https://bucket.example.com/eu", "file:///var/lib/recordings"):
        found = path_of_url("acme", f"{base}/acme/2026-11-21/{FILE}")
        assert found == recording_path("acme", "2026-11-21", FILE)


@pytest.mark.parametrize(
    "url",
    [
        f"s3://bucket/evil/2026-11-21/{FILE}",  # another account's
        f"s3://bucket/acme/20261121/{FILE}",
        "s3://bucket/acme/2026-11-21/other.mp3",
        f"acme/2026-11-21/{FILE}",
        FILE,
        "",
    ],
)
def test_another_address_has_none(url: str) -> None:
    """Above all, it is of no other account."""
    assert path_of_url("acme", url) is None


@pytest.mark.parametrize(("day", "file"), [("..", FILE), ("2026-11-21", "../x.wav")])
def test_a_malformed_part(day: str, file: str) -> None:
    """No path leads out of the archive."""
    with pytest.raises(NotFound):
        recording_path("acme", day, file)
