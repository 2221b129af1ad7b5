"""What the lists of streams show of a call that talks with a bot."""

from engine.rpc.views.streams import call_streams_view
from tests.harness.calls import streams
from tests.harness.calls.builders import Story
from wire.views import StreamView


def listed(story: Story, after_ms: int = 0) -> StreamView:
    """Return the only stream in the list."""
    (view,) = call_streams_view(story.call, story.now + after_ms).streams
    return view


def test_what_was_heard_grows_while_the_bot_speaks() -> None:
    story = streams.conversing()
    streams.speak(story, is_speaking=True, heard_ms=200)
    assert (listed(story).heard_ms, listed(story, 700).heard_ms) == (200, 900)
    streams.speak(story, is_speaking=False, heard_ms=900)
    assert listed(story, 700).heard_ms == 900


def test_a_bot_that_is_called_again_is_listed() -> None:
    """Between two tries with what was heard last, then with the id of the next stream."""
    story = streams.conversing()
    streams.speak(story, is_speaking=True, heard_ms=0)
    streams.reach_mark(story, "m1", 400)
    streams.end(story, "bot-lost", heard_ms=500)
    assert (listed(story).stream_id, listed(story).state) == (streams.SECOND, "resuming")
    streams.end(story, "bot-lost")
    assert streams.current(story) == ""
    view = listed(story)
    assert (view.stream_id, view.state, view.fork) == (streams.FIRST, "resuming", False)
    assert (view.heard_ms, view.last_mark, view.connected_ms) == (500, "m1", 0)
    story.pass_deadline()
    assert listed(story).state == "resuming"
    streams.connect(story)
    assert listed(story).state == "connected"
