"""An engine's events as an account sees them, in chunks of any size."""

import json

import pytest

from api.cdrs.sse_filter import LOST_FRAME, EventIdCipher, SseFilter
from api.http.event_stream import COMMENT_FRAME
from wire.decoding.errors import BadInput

PLACE = b'{"0":"1795262400000-0","1":"1795262400017-12"}'
EVENT = b'event: answered\ndata: {"callId":"0-pbx1-1","note":"id: 7"}\n\n'
STREAMED = (
    COMMENT_FRAME
    + b'event: lost\ndata: [{"slot":1,"first":"5-0","end":"9-0"}]\n\n'
    + b"id: %b\n" % PLACE
    + EVENT
    + COMMENT_FRAME
)


@pytest.fixture
def seal() -> EventIdCipher:
    """Provide a cipher."""
    return EventIdCipher(["s" * 32])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, len(STREAMED)])
def test_chunks_of_any_size(seal: EventIdCipher, size: int) -> None:
    """The frames are the same, complete, without comments and without data of other slots."""
    frames = SseFilter(seal)
    pieces = [STREAMED[at : at + size] for at in range(0, len(STREAMED), size)]
    found = [frames.feed(piece) for piece in pieces]
    assert [each.position for each in found if each.position] == [PLACE]
    text = b"".join(each.text for each in found)
    assert text.startswith(LOST_FRAME)
    line, _, rest = text.removeprefix(LOST_FRAME).partition(b"\n")
    assert rest == EVENT
    assert json.loads(seal.decrypt(line.removeprefix(b"id: ").decode())) == json.loads(PLACE)


def test_the_first_and_the_last_of_messages_have_an_id(seal: EventIdCipher) -> None:
    """A reader that is cut off within them gets some twice, and misses none."""
    frame = SseFilter(seal).feed(b"".join(b"id: %d\n%b" % (number, EVENT) for number in range(5)))
    messages = frame.text.split(b"\n\n")[:-1]
    ids = [each.partition(b"\n")[0] for each in messages]
    found = [seal.decrypt(each[4:].decode()) for each in ids if each.startswith(b"id: ")]
    assert found == ["0", "4"]
    assert [each.startswith(b"id: ") for each in ids] == [True, False, False, False, True]
    assert frame.position == b"4"
    assert frame.text.count(EVENT) == 5


def test_a_notice_is_passed_on(seal: EventIdCipher) -> None:
    """Also between messages; it has no position."""
    notice = b"event: other\ndata: {}\n\n"
    frame = SseFilter(seal).feed(notice)
    assert (frame.text, frame.position) == (notice, b"")


def test_ids_reveal_nothing(seal: EventIdCipher) -> None:
    """Not even by their length; only processes with the secret decrypt them."""
    quiet = seal.encrypt(b'{"0":"1795262400000-0","1":"0-0"}')
    busy = seal.encrypt(PLACE)
    assert len(quiet) == len(busy)
    assert b"1795262400" not in busy
    assert EventIdCipher(["s" * 32]).decrypt(busy.decode()) == PLACE.decode()
    for secret, text in (("t" * 32, busy.decode()), ("s" * 32, PLACE.decode()), ("s" * 32, "é")):
        with pytest.raises(BadInput, match="Last-Event-ID"):
            EventIdCipher([secret]).decrypt(text)


def test_ids_of_an_earlier_secret(seal: EventIdCipher) -> None:
    """A reader that comes back after the secret was replaced continues where it was."""
    earlier = seal.encrypt(PLACE).decode()
    present = EventIdCipher(["t" * 32, "s" * 32])
    assert present.decrypt(earlier) == PLACE.decode()
    with pytest.raises(BadInput, match="Last-Event-ID"):
        seal.decrypt(present.encrypt(PLACE).decode())
