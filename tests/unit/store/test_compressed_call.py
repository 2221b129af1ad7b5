"""The stored form of an ended call."""

from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.calls.model.events import LegEnded
from engine.calls.model.storage_format import decode_stored_call, encode
from engine.store.compressed_call import (
    DICTIONARIES,
    DICTIONARY,
    EndedCall,
    compress,
    decompress,
    is_compressed,
)
from tests.harness.recorded_call import record_call
from tests.unit.calls.harness.builders import MAIN, bridged_call, outbound
from tests.unit.calls.harness.control import BOB, PEER

SEALED = {1: "e45c5fff3a10b85616268868823c429d7f592b7380d0e0692bc4507c67753207"}


def conversation() -> EndedCall:
    """Return a conversation of two parties, to its end."""
    story = bridged_call(BOB)
    story.take(LegEnded(PEER, 16), 2_000)
    story.take(LegEnded(MAIN, 16), 10)
    opened = outbound({"type": "dial", "data": {"number": [BOB]}})
    recorded = record_call(opened, story.events)
    return EndedCall(encode(recorded.record), recorded.log)


@given(st.binary(), st.lists(st.binary(max_size=300), max_size=20))
def test_it_is_read_as_it_was(state: bytes, log: list[bytes]) -> None:
    """State and log are the same, whatever they contain."""
    call = EndedCall(state, tuple(log))
    assert decompress(compress(call)) == call


def test_a_conversation_is_compressed_to_a_third() -> None:
    """The dictionary has what calls have in common."""
    call = conversation()
    size = len(call.state) + sum(map(len, call.log))
    assert len(compress(call)) * 3 < size
    assert decompress(compress(call)) == call


def test_a_released_dictionary_never_changes() -> None:
    """What was compressed with it must stay readable."""
    found = {
        int(each.stem): sha256(each.read_bytes()).hexdigest() for each in DICTIONARIES.glob("*.bin")
    }
    assert found == SEALED
    assert max(found) == DICTIONARY


@pytest.mark.parametrize("position", [2, 9])
def test_what_this_version_cannot_read_does_not_decode(position: int) -> None:
    """Neither with a later dictionary, nor damaged: the call is one that does not decode."""
    record = bytearray(compress(conversation()))
    record[position] = 0xFF
    call = decompress(bytes(record))
    assert call.log == ()
    with pytest.raises(msgspec.DecodeError):
        decode_stored_call(call.state)


def test_an_earlier_version_does_not_decode_it() -> None:
    """It takes what follows the first zero byte for the state."""
    record = compress(conversation())
    assert is_compressed(record)
    with pytest.raises(msgspec.DecodeError):
        decode_stored_call(record.partition(b"\0")[2])
