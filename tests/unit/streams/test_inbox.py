"""Messages of engines, and marks, of one stream."""

from streams.stream.inbox import MAX_EARLY, MAX_IDS, Inbox
from streams.stream.mark_names import MarkNames
from wire.streams.setup import TextMessage


def test_a_message_waits_for_the_bot() -> None:
    """In order, and each once."""
    inbox = Inbox()
    first, second, third = (TextMessage(text) for text in "abc")
    assert [*inbox.put("1", first), *inbox.put("2", second), *inbox.put("1", first)] == []
    assert [*inbox.open()] == [first, second]
    assert [*inbox.put("2", second), *inbox.put("3", third)] == [third]


def test_what_waits_and_what_is_remembered_has_an_end() -> None:
    """A bot that never comes fills no memory."""
    inbox = Inbox()
    for number in range(MAX_IDS + 1):
        inbox.put(str(number), TextMessage("a"))
    assert len([*inbox.open()]) == MAX_EARLY
    assert [*inbox.put("0", TextMessage("a"))] == [TextMessage("a")]
    for number in (2, MAX_IDS):
        assert [*inbox.put(str(number), TextMessage("a"))] == []


def test_marks_of_the_same_name_have_keys_of_their_own() -> None:
    """The last one that was heard is remembered; one that was cleared is not."""
    names = MarkNames()
    keys = [names.add("a"), names.add('"'), names.add("a")]
    assert len({*keys}) == 3
    assert names.take(keys[0], is_cleared=False) == "a"
    assert names.take(keys[1], is_cleared=True) == '"'
    assert names.last_heard == "a"
