"""What phones in browsers may send over their websockets."""

import struct

import pytest

from api.http.websocket_frames import (
    FRAME_BYTES,
    MAX_FRAMES,
    MAX_FRAMES_OF_ACCOUNT,
    OWN_FRAMES,
    WINDOW_S,
    FrameCounter,
    FrameShares,
)


def frame(size: int, kind: int = 0x81) -> bytes:
    """Return a frame of a browser, with a payload that looks like heads of frames."""
    if size < 126:
        head = struct.pack("!BB", kind, 0x80 | size)
    elif size < 65_536:
        head = struct.pack("!BBH", kind, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", kind, 0x80 | 127, size)
    return head + b"mask" + b"\x81\x80" * (size // 2) + b"\x81" * (size % 2)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 100, 1_000_000])
@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([0] * 20, 20),
        ([1, 125, 126, 127, 1_500], 5),
        ([FRAME_BYTES, 0], 3),
        ([65_536, 0, 65_535], 67),
        ([100_000, 1], 50),
    ],
)
def test_frames_are_counted(sizes: list[int], count: int, piece: int) -> None:
    """Of any size, in any pieces; one of many bytes counts as several."""
    data, counter = b"".join(map(frame, sizes)), FrameCounter()
    pieces = (data[at : at + piece] for at in range(0, len(data), piece))
    assert sum(map(counter.count, pieces)) == count


def test_a_flood_is_not_counted_to_its_end() -> None:
    """It has exceeded the limit."""
    assert FrameCounter().count(frame(0, 0x8A) * 40_000) == MAX_FRAMES + 1
    assert FrameCounter().count(b"\x81\xff" + b"\xff" * 8) > MAX_FRAMES


def test_a_websocket_has_a_share() -> None:
    """In each window; the others of its account keep theirs."""
    now_s = [5.0]
    shares = FrameShares(lambda: now_s[0])
    for _ in range(2):
        assert not shares.is_exceeded("a", "acme", MAX_FRAMES)
        assert shares.is_exceeded("a", "acme", 1)
        assert not shares.is_exceeded("b", "acme", MAX_FRAMES)
        now_s[0] += WINDOW_S


def test_an_account_has_a_share() -> None:
    """Its websockets that flood use it up, also one after another; the others go on."""
    now_s = [5.0]
    shares = FrameShares(lambda: now_s[0])
    for number in range(MAX_FRAMES_OF_ACCOUNT // MAX_FRAMES):
        assert not shares.is_spent("acme")
        assert not shares.is_exceeded(number, "acme", MAX_FRAMES)
    assert shares.is_spent("acme")
    assert not shares.is_exceeded("quiet", "acme", OWN_FRAMES)
    assert shares.is_exceeded("quiet", "acme", 1)
    assert not shares.is_spent("other")
    assert not shares.is_exceeded("else", "other", MAX_FRAMES)
    now_s[0] += WINDOW_S
    assert not shares.is_spent("acme")
