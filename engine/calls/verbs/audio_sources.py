"""Audio sources of whole trees, collected before they run so that no caller waits."""

from typing import get_args

from engine.calls.model.call import Call
from wire.answer_detection import Prompt
from wire.media import Source
from wire.tree import parts_of
from wire.verbs import Action, AudibleVerb, Verb


def audio_sources(*actions: Action | None) -> tuple[Source, ...]:
    """Return the audio sources of whole trees, in playing order, without duplicates."""
    found: dict[Source, None] = {}
    for action in actions:
        _collect(action, found)
    return tuple(found)


def pending_audio_sources(call: Call) -> tuple[Source, ...]:
    """Return the audio sources of a call's current state and of its continuation."""
    fields = (getattr(call.state, name) for name in call.state.__struct_fields__)
    found: dict[Source, None] = {}
    for each in (*fields, *call.continuation):
        if isinstance(each, get_args(Verb)):
            _collect(each, found)
    return tuple(found)


def _collect(action: Action | None, found: dict[Source, None]) -> None:
    while action is not None and not isinstance(action, str):
        if isinstance(action, AudibleVerb):
            found.update(dict.fromkeys(action.data.sources))
        for _, part in parts_of(action):
            if isinstance(part, Prompt):
                found.update(dict.fromkeys(part.sources))
            else:
                _collect(part, found)
        if isinstance(action, AudibleVerb):
            _collect(action.on_error, found)
        action = action.action
