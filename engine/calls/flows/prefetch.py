"""What a tree will want to have heard, found before it runs, so that no caller waits for it."""

from typing import get_args

from engine.calls.model.call import Call
from engine.calls.verbs.play import sources
from engine.calls.verbs.prompt import sources as prompt
from wire.media import Source
from wire.verbs import Action, Dial, Gather, Play, Record, Say, Verb


def audio_sources(action: Action | None) -> tuple[Source, ...]:
    """List the audio of a whole tree, in the order it may be heard, without doubles."""
    found: dict[Source, None] = {}
    _collect(action, found)
    return tuple(found)


def pending_audio_sources(call: Call) -> tuple[Source, ...]:
    """List the audio of a call's step and of what comes after it."""
    fields = (getattr(call.state, name) for name in call.state.__struct_fields__)
    found: dict[Source, None] = {}
    for each in (*fields, *call.continuation):
        if isinstance(each, get_args(Verb)):
            _collect(each, found)
    return tuple(found)


def _collect(action: Action | None, found: dict[Source, None]) -> None:
    while action is not None and not isinstance(action, str):
        match action:
            case Play() | Say() | Record():
                found.update(dict.fromkeys(sources(action)))
            case Gather(data=data):
                found.update(dict.fromkeys(prompt(data)))
                _collect(data.fallback, found)
            case Dial(data=data):
                _collect(data.whisper, found)
                found.update(dict.fromkeys(prompt(data.confirm) if data.confirm else ()))
            case _:
                pass
        action = action.action
