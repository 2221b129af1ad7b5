"""Invariants of every call after every step."""

from typing import Any

from engine.calls.model.call import Call, is_expected
from engine.calls.model.call_states import Advance, Bridged, Dialing
from engine.calls.model.commands import AddToBridge, Hangup
from engine.calls.model.storage_format import StoredCall, decode_stored_call, encode
from engine.calls.states import deadline_ms
from engine.calls.verbs.call_end import HANGUP_TIMEOUT_MS, MAX_HANGUP_RETRIES


def assert_sound(call: Call, commands: tuple[Any, ...], now: int) -> None:
    assert not isinstance(call.state, Advance), "never stored"
    if not call.is_ended:
        when = deadline_ms(call)
        assert when is not None, "every state that waits has a deadline"
        hanging_up_ms = HANGUP_TIMEOUT_MS * (MAX_HANGUP_RETRIES + 1)
        must_end_ms = max(call.must_end_ms, now)  # an engine may have been late
        assert when <= must_end_ms + hanging_up_ms, "no call lives longer than the longest"
    assert decode_stored_call(encode(StoredCall(call, commands))) == StoredCall(call, commands)
    for command in commands:
        if isinstance(command, Hangup):
            leg = call.leg(command.leg)
            assert leg is None or not is_expected(call, leg.id), "what is wanted is not hung up"
        if isinstance(command, AddToBridge):
            early_media = isinstance(call.state, Dialing) and call.state.bridge == command.bridge
            assert early_media or isinstance(call.state, Bridged)
