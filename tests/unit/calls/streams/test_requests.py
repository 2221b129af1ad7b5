"""Control requests about streams: forks, stops and texts."""

from engine.calls.model.call_states import AwaitingInstructions, Gathering, Streaming
from engine.calls.model.events import DigitPressed
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.requests import ForkRequested, StreamStopRequested, StreamTextRequested
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamEnded
from engine.calls.recovery.missed_digits import undelivered_digits
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, outbound
from tests.harness.calls.streams import BOT, conversing, current
from wire.streams.setup import TextMessage
from wire.verbs import StreamData

FORK = StreamData(BOT, fork=True)


def press(story: Story, digit: str, pressed_ms: int) -> None:
    story.take(DigitPressed(MAIN, digit, pressed_ms, 80))


def test_a_stop_continues_the_tree() -> None:
    """The webhook gets the reason."""
    story = conversing(HTTPS)
    stream = current(story)
    story.take(StreamStopRequested(stream))
    assert StopStream(stream) in story.commands
    assert isinstance(story.call.state, AwaitingInstructions)
    (webhook,) = story.commands_of(SendWebhook)
    assert b'"reason":"stopped"' in webhook.body


def test_only_a_live_stream_can_be_stopped() -> None:
    story = conversing(HTTPS)
    assert check_request(story.call, StreamStopRequested("other")) is not None
    assert check_request(story.call, StreamStopRequested(current(story))) is None


def test_a_text_goes_to_the_bot() -> None:
    story = conversing()
    story.take(StreamTextRequested(current(story), "hello"))
    assert story.commands_of(SendToStream)[-1].message == TextMessage("hello")


def test_a_fork_beside_a_stream() -> None:
    """It runs beside the bot that the caller hears, and starts once."""
    story = conversing()
    story.take(ForkRequested(FORK))
    story.take(ForkRequested(FORK))
    assert [each.data.fork for each in story.commands_of(StartStream)] == [False, True]
    assert isinstance(story.call.state, Streaming)


def test_a_fork_needs_an_answered_call() -> None:
    rejection = check_request(outbound(), ForkRequested(FORK))
    assert rejection is not None
    assert rejection.code == "not_answered"


def test_digits_of_the_bot_are_not_those_of_the_next_gather() -> None:
    """AMI reports them, too: those before the gather are not missing ones."""
    gather = {"type": "gather", "data": {"maxDigits": 2}, "action": HTTPS}
    story = conversing(gather)
    pressed_ms = story.now
    press(story, "1", pressed_ms)
    story.take(StreamEnded(current(story), "bot-closed"), 500)
    logged = {MAIN: [DigitPressed(MAIN, "1", pressed_ms, 80, missed=True)]}
    assert isinstance(story.call.state, Gathering)
    assert undelivered_digits(story.call, logged, story.now + 1_000) == ()


def test_a_fork_of_a_call_without_a_stream() -> None:
    story = answered_call({"type": "pause", "data": {"length": 60}})
    story.take(ForkRequested(FORK))
    assert story.commands_of(StartStream)
