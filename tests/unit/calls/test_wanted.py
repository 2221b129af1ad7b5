"""What a tree will want to have heard."""

from engine.calls.wanted import wanted
from tests.unit.calls.building import HTTPS, say, tree
from wire.media import Audio, Speech


def test_the_whole_tree_is_searched() -> None:
    """Prompts, lists, texts and fallbacks, in the order they may be heard, without doubles."""
    gather = {
        "type": "gather",
        "data": {"audioUrl": HTTPS + "1", "fallback": say("no?", action=say("bye"))},
    }
    play = {"type": "play", "data": {"audioUrl": [HTTPS + "2", HTTPS + "1"]}}
    silent = {"type": "gather", "data": {}, "action": {**play, "action": say("bye")}}
    assert wanted(tree({**gather, "action": silent})) == (
        Audio(HTTPS + "1"),
        Speech("no?"),
        Speech("bye"),
        Audio(HTTPS + "2"),
    )


def test_what_is_not_known_yet_is_not_wanted() -> None:
    """An address may answer anything; a dial and a hangup play nothing of ours."""
    assert wanted(None) == ()
    assert wanted(HTTPS) == ()
    dial = {"type": "dial", "data": {"agent_id": "7"}, "action": {"type": "hangup"}}
    assert wanted(tree(dial)) == ()


def test_a_greeting_is_wanted() -> None:
    """What who answers a dial will hear, and a gather's spoken prompt."""
    data = {"agent_id": "7", "whisper": say("Sales?"), "confirm": {"text": "Press one."}}
    gather = {"type": "gather", "data": {"text": "Your number?"}}
    assert wanted(tree({"type": "dial", "data": data, "action": gather})) == (
        Speech("Sales?"),
        Speech("Press one."),
        Speech("Your number?"),
    )
