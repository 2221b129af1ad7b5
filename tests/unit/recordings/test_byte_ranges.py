"""The parts of a file that requests ask for."""

import pytest

from engine.recordings.byte_ranges import Unsatisfiable, byte_range


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-9", (0, 10)),
        ("bytes=5-5", (5, 6)),
        ("bytes=90-", (90, 100)),
        ("bytes=90-1000", (90, 100)),
        ("bytes=-1", (99, 100)),
        ("bytes=-100", (0, 100)),
        ("bytes=-1000", (0, 100)),
        ("Bytes= 0-9 ", (0, 10)),
        ("", None),
        ("bytes=-", None),
        ("bytes=9-8", None),
        ("bytes=200-100", None),
        ("bytes=0-1,5-6", None),
        ("seconds=0-1", None),
        ("bytes=a-b", None),
        ("bytes=\u0661-", None),
    ],
)
def test_parts(header: str, part: tuple[int, int] | None) -> None:
    """One range is a part; what is not understood is all of the file."""
    assert byte_range(header, 100) == part


@pytest.mark.parametrize("header", ["bytes=-0", "bytes=-000", "bytes=100-", "bytes=100-200"])
def test_a_range_without_a_byte(header: str) -> None:
    """It cannot be satisfied, and nothing can of an empty file."""
    with pytest.raises(Unsatisfiable):
        byte_range(header, 100)
    for each in ("bytes=0-", "bytes=0-0", "bytes=-1"):
        with pytest.raises(Unsatisfiable):
            byte_range(each, 0)
