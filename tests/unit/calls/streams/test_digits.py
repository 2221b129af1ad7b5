"""stream: digits that its caller presses while no engine has the call."""

from engine.calls.model.events import DigitPressed, PlaybackEnded
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from tests.harness.calls.ami_digits import ami_digit, ari_digit, recover
from tests.harness.calls.builders import MAIN, Story, say
from tests.harness.calls.streams import conversing, current, messages, request_action
from wire.streams.setup import DigitMessage


def recover_with(story: Story, *keys: DigitPressed) -> None:
    """Recover a call whose stream went on."""
    recover(story, *keys, seen=PbxSnapshot({MAIN: "Up", current(story): "Up"}))


def digits_sent(story: Story) -> str:
    """Return all digits that bots were sent."""
    return "".join(each.digit for each in messages(story) if isinstance(each, DigitMessage))


def test_digits_of_an_outage_reach_the_bot() -> None:
    """In order, and each once."""
    story = conversing()
    story.take(first := ari_digit(story, "1", 200), 200)
    others = [ami_digit(ari_digit(story, digit, ms)) for digit, ms in (("2", 500), ("3", 900))]
    recover_with(story, ami_digit(first), *others)
    assert digits_sent(story) == "123"
    recover_with(story, ami_digit(first), *others)
    assert digits_sent(story) == "123"


def test_digits_for_an_action_are_not_the_bots() -> None:
    """They were pressed while something else ran, before the stream went on."""
    story = conversing()
    request_action(story, say())
    story.deliver_media()
    pressed = ami_digit(ari_digit(story, "7", 500))
    story.take(PlaybackEnded(story.call.state.request), 4_000)  # type: ignore[union-attr]  # plays
    recover_with(story, pressed)
    assert digits_sent(story) == ""
