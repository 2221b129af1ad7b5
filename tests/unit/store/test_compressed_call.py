"""The stored form of an ended call."""

from hashlib import sha256

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.calls.model.events import LegEnded
from engine.calls.model.storage_format import decode_stored_call, encode
from engine.store.compressed_call import (
    DICTIONARIES,
    DICTIONARY,
    EndedCall,
    compress,
    decode_parts,
    decompress,
    encode_parts,
)
from tests.harness.calls.builders import ID, MAIN, bridged_call, outbound
from tests.harness.calls.control import BOB, PEER
from tests.harness.recorded_call import record_call

SEALED = {
    3: "70bc69edae6d5cf09718c2945c5cc9194fe227aedb3800942366313ff261893e",
}


def conversation() -> EndedCall:
    """Return a conversation of two parties, to its end."""
    story = bridged_call(BOB)
    story.take(LegEnded(PEER, 16), 2_000)
    story.take(LegEnded(MAIN, 16), 10)
    opened = outbound({"type": "dial", "data": {"number": [BOB]}})
    recorded = record_call(opened, story.events)
    return EndedCall(encode(recorded.record), recorded.log)


PIECES = [
    b"\xc1",
    b"\xc7",
    b"\xc9",
    b"\xd8",
    b"\xcf\x00\x00\x01",
    b"c1",
    b"pbx1-1795237552.7",
    b"\x94",
]
parts = st.binary(max_size=300) | st.lists(st.sampled_from(PIECES) | st.binary(max_size=9)).map(
    b"".join
)


@example(b"c1\xc9", [])  # an id before the second byte of a mark
@example(b"\xcf\x00\x00\x01", [b"\xc1", b"c1", b"", b"\xc1\xd8"])
@given(parts, st.lists(parts, max_size=20))
def test_it_is_read_as_it_was(state: bytes, log: list[bytes]) -> None:
    """State and log are the same, whatever they contain, also what marks ids and times."""
    call = EndedCall(state, tuple(log))
    assert decompress("c1", compress("c1", call)) == call


@pytest.mark.parametrize("text", ["x", "x-", "-1700000000.", "-1700000000.1 "])
def test_long_words_take_no_long_time(text: str) -> None:
    """Such as those of custom data: quadratic time would be longer than this test may take."""
    call = EndedCall(b"", ((text * 500_000).encode(),))
    assert decompress(ID, compress(ID, call)) == call


def test_the_id_of_a_channel_is_written_once() -> None:
    """Wherever it is, with a name or without."""
    for channel in ("pbx1-1700000000.12", "a_name-of-it-1700000000.7"):
        lines = [f"{number} of {channel}, held".encode() for number in range(100)]
        is_text, encoded = encode_parts(ID, [b"-1700000000.3", *lines])
        assert is_text
        assert encoded.count(channel.encode()) == 1
        assert decode_parts(ID, encoded, is_text=True) == [b"-1700000000.3", *lines]


def test_a_conversation_is_compressed_to_a_quarter() -> None:
    """The dictionary has what calls have in common."""
    call = conversation()
    size = len(call.state) + sum(map(len, call.log))
    assert len(compress(ID, call)) * 4 < size
    assert decompress(ID, compress(ID, call)) == call


def test_a_released_dictionary_never_changes() -> None:
    """What was compressed with it must stay readable."""
    found = {
        int(each.stem): sha256(each.read_bytes()).hexdigest() for each in DICTIONARIES.glob("*.bin")
    }
    assert found == SEALED
    assert max(found) == DICTIONARY


@pytest.mark.parametrize("position", [2, 12])
def test_what_this_version_cannot_read_does_not_decode(position: int) -> None:
    """Neither with a later dictionary, nor damaged: the call is one that does not decode."""
    record = bytearray(compress(ID, conversation()))
    record[position] = 0xFF
    call = decompress(ID, bytes(record))
    assert call.log == ()
    with pytest.raises(msgspec.DecodeError):
        decode_stored_call(call.state)
