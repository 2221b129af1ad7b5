"""Rows of a gather that understands speech."""

from typing import Any

import pytest

from tests.unit.base.timeline.stories import OPENED, Step, joins, started, story, words

STREAM = "l0.w1"
LISTENS: list[dict[str, Any]] = [
    {"type": "listen", "snoop": "b1.s1", "leg": "l0", "track": "caller"},
    {"type": "start-stream", "stream": STREAM, "recognition": {"recognizer": "grammar"}},
]
BEGUN: Step = ({"type": "leg-answered", "leg": "l0"}, LISTENS, "gathering")
FORKED: Step = (
    {"type": "leg-created", "leg": STREAM},
    [joins("b1.s1", STREAM, bridge="b1.s1b")],
    "gathering",
)


def understood(text: str, confidence: float, reason: str, *, is_voice: bool = True) -> Step:
    """Return the entry of a transcript that ends a gather."""
    event = {
        "type": "speech-understood", "stream": STREAM, "text": text, "confidence": confidence,
        "is_voice": is_voice,
    }  # fmt: skip
    gathered = {"type": "emit-event", "event": {"event": "gathered", "reason": reason}}
    return event, [gathered], "ending"


def test_a_recognizer_has_a_name() -> None:
    """It is a lifeline, and no bot: the fork names it."""
    result = story(OPENED, BEGUN, FORKED)
    assert "forked: grammar hears A" in words(result)
    assert result.lifelines[-1].label == "grammar"


def test_a_recognizer_that_ends_says_why() -> None:
    """In one row: the end of its channel has none. The text is whole."""
    detail = "unknown-words: hints: no pronunciation is known of kjetil: give such a hint as …"
    gone = {"type": "leg-ended", "leg": STREAM, "cause": 16, "sip_code": 1001}
    ended = {"type": "stream-ended", "stream": STREAM, "reason": "bot-closed", "detail": detail}
    result = story(OPENED, BEGUN, FORKED, (gone, [], "gathering"), (ended, [], "gathering"))
    assert words(result)[-2:] == ["forked: grammar hears A", f"recognizer lost: {detail}"]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (understood("sales", 0.93, "speech"), "understood “sales” (0.93)"),
        (understood("sales", 0.21, "no-match"), "understood “sales” (0.21): no match"),
        (understood("", 0, "no-match"), "nothing understood"),
        (understood("", 0, "timeout", is_voice=False), "no speech, but a noise"),
    ],
)
def test_what_was_understood_is_shown(entry: Step, text: str) -> None:
    """With its confidence; a best guess is marked as no match."""
    assert text in words(story(OPENED, BEGUN, FORKED, entry))


def test_a_gather_without_a_prompt_names_what_it_waits_for() -> None:
    """Digits, speech, or both."""
    for awaited, text in (
        (None, "digits"),
        (["speech"], "speech"),
        (["speech", "digits"], "speech or digits"),
    ):
        data = {} if awaited is None else {"input": awaited}
        shown = words(started({"type": "gather", "data": data}, "gathering"))
        assert shown[-1] == f"gather: waiting for {text}"


def test_a_recognizer_in_the_place_of_another_has_its_lifeline() -> None:
    """Else each of many attempts would make the diagram wider."""
    again = [{"type": "stop-stream", "stream": STREAM}, {**LISTENS[1], "stream": "l0.w5"}]
    ended = {"type": "stream-ended", "stream": STREAM, "reason": "bot-lost"}
    connected = {"type": "stream-connected", "stream": "l0.w5", "connect_ms": 3}
    result = story(OPENED, BEGUN, FORKED, (ended, again, "gathering"), (connected, [], "gathering"))
    assert [each.label for each in result.lifelines].count("grammar") == 1
    assert words(result)[-2:] == ["grammar listens", "recognizer connected"]
    assert result.rows[-1].from_ == STREAM
