"""What AMI's text may contain, and what is dropped."""

import pytest

from engine.ami.messages import read_message, write_action

BREAKS = ("\r\n", "\n", "\r", "\v", "\f", "\x00", "\x1c", "\x7f", "\x85", "\u2028", "\u2029")


@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
def test_no_action_contains_a_control_character(mark: str) -> None:
    """In a name, a value or the action itself: it would begin another field, or action."""
    text = f"x{mark}Action: MixMonitor"
    for action, fields in (("Ping", {"A": text}), ("Ping", {text: "a"}), (text, {})):
        with pytest.raises(ValueError, match="more than one line"):
            write_action(action, fields)


@pytest.mark.parametrize("mark", [each for each in BREAKS if each != "\r\n"], ids=ascii)
def test_no_message_contains_a_control_character(mark: str) -> None:
    """A value, which a phone may have chosen, looks like a field to others."""
    assert read_message(f"Event: A\r\nURI: x{mark}AOR: y".encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "X: ]:5060\r\nContactStatus: Reachable",
        "event: A",
        "Event: A\r\nevent: B",
        "Event: A\r\nURI: a\r\nURI: b",
        "Event: A\r\nno field",
        "Event: A\r\n: b",
        "Event: A\r\na b: c",
    ],
)
def test_a_structure_that_is_not_asterisks(text: str) -> None:
    """A part of a message, or one with a field twice in whatever case."""
    assert read_message(text.encode()) is None


def test_a_message() -> None:
    """Its fields are found in any case; bytes that are not UTF-8 are replaced."""
    found = read_message(b"Event: A\r\nActionID: 7\r\nEmpty: \r\nURI: sip:a:b\xff")
    assert found is not None
    assert (found.event, found["actionid"], found["Empty"]) == ("A", "7", "")
    assert found["uri"] == "sip:a:b\ufffd"
    assert found.has_in_order(("Event", "ActionID", "URI"))
    assert not found.has_in_order(("Event", "ActionID"))
    assert not found.has_in_order(("ActionID", "Event", "URI"))


def test_a_line_feed_of_asterisks_own() -> None:
    """Some of its errors end with one."""
    found = read_message(b"Response: Error\r\nMessage: No Contacts found\n")
    assert found is not None
    assert found["Message"] == "No Contacts found"
