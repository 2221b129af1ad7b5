"""The audio that an action tree needs."""

from msgspec.structs import replace

from engine.calls.model.call_states import Playing
from engine.calls.verbs.audio_sources import audio_sources, pending_audio_sources
from tests.harness.calls.builders import HTTPS, outbound, say, tree
from wire.media import Audio, Speech
from wire.verbs import Say


def test_the_whole_tree_is_searched() -> None:
    """Prompts, lists, texts and fallbacks, in playing order, without duplicates."""
    gather = {
        "type": "gather",
        "data": {"audioUrl": HTTPS + "1", "fallback": say("no?", action=say("bye"))},
    }
    play = {"type": "play", "data": {"audioUrl": [HTTPS + "2", HTTPS + "1"]}}
    silent = {"type": "gather", "data": {}, "action": {**play, "action": say("bye")}}
    silent["onError"] = say("sorry", onError=say("bye"))
    assert audio_sources(tree({**gather, "action": silent})) == (
        Audio(HTTPS + "1"),
        Speech("no?"),
        Speech("bye"),
        Speech("sorry"),
        Audio(HTTPS + "2"),
    )


def test_actions_without_audio() -> None:
    """A URL may return anything; a dial and a hangup play nothing."""
    assert audio_sources(None) == ()
    assert audio_sources(HTTPS) == ()
    dial = {"type": "dial", "data": {"agent_id": "7"}, "action": {"type": "hangup"}}
    assert audio_sources(tree(dial)) == ()


def test_audio_of_a_screening() -> None:
    """A dial's whisper and confirmation, and a gather's spoken prompt."""
    data = {"agent_id": "7", "whisper": say("Sales?"), "confirm": {"text": "Press one."}}
    gather = {"type": "gather", "data": {"text": "Your number?"}}
    assert audio_sources(tree({"type": "dial", "data": data, "action": gather})) == (
        Speech("Sales?"),
        Speech("Press one."),
        Speech("Your number?"),
    )


def test_pending_audio_of_a_call() -> None:
    """Of its state, the following actions, and its continuation; no more."""
    left = tree(say("now", action=say("then")))
    assert isinstance(left, Say)
    state = Playing(left, "p", 0)
    call = replace(outbound(), state=state, continuation=(tree(say("after")), HTTPS))
    assert pending_audio_sources(call) == (Speech("now"), Speech("then"), Speech("after"))
