"""What holds of any call after any step."""

from typing import Any

from engine.calls.model.call import Call, deadline_ms, expects
from engine.calls.model.codec import Record, decode_record, encode
from engine.calls.model.commands import Bridge, Hangup
from engine.calls.model.state import Next, Talking
from engine.calls.verbs.hangup import HANGUP_MS, TRIES


def assert_sound(call: Call, commands: tuple[Any, ...]) -> None:
    """Check what holds of any call after any step."""
    assert not isinstance(call.doing, Next), "never stored"
    if not call.is_over:
        when = deadline_ms(call)
        assert when is not None, "every state that waits has a deadline"
        hanging_up_ms = HANGUP_MS * (TRIES + 1)
        assert when <= call.latest_ms + hanging_up_ms, "no call lives longer than the longest"
    assert decode_record(encode(Record(call, commands))) == Record(call, commands)
    for command in commands:
        if isinstance(command, Hangup):
            leg = call.leg(command.leg)
            assert leg is None or not expects(call, leg.id), "what is wanted is not hung up"
        if isinstance(command, Bridge):
            assert isinstance(call.doing, Talking)
