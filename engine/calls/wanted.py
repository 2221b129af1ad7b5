"""What a tree will want to have heard, found before it runs, so that no caller waits for it."""

from engine.calls.verbs.play import sources
from wire.media import Audio, Source
from wire.verbs import Action, Gather, Play, Say


def wanted(action: Action | None) -> tuple[Source, ...]:
    """List the audio of a whole tree, in the order it may be heard, without doubles."""
    found: dict[Source, None] = {}
    _collect(action, found)
    return tuple(found)


def _collect(action: Action | None, found: dict[Source, None]) -> None:
    while action is not None and not isinstance(action, str):
        match action:
            case Play() | Say():
                found.update(dict.fromkeys(sources(action)))
            case Gather(data=data):
                if data.audio_url is not None:
                    found[Audio(data.audio_url)] = None
                _collect(data.fallback, found)
            case _:
                pass
        action = action.action
