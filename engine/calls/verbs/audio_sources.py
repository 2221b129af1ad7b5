"""Audio sources of verbs and whole trees, collected before they run so that no caller waits."""

from typing import get_args

from engine.calls.model.call import Call
from wire.answer_detection import Prompt
from wire.media import Audio, Source, Speech, Tone
from wire.verbs import Action, Dial, Flow, Gather, Hangup, Pause, Play, Record, Say, Stream, Verb

PlayableVerb = Play | Say | Record
PromptVerb = PlayableVerb | Gather
BEEP = Tone(1_000, 250)


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


def verb_sources(verb: PromptVerb) -> tuple[Source, ...]:
    """Return the audio sources of a play, a say, or the prompt of a record or a gather."""
    match verb:
        case Gather(data=data):
            return prompt_sources(data)
        case Say(data=data):
            return (Speech(data.text, data.voice, data.language, data.ssml),)
        case Record(data=data):
            return (*prompt_sources(data), *((BEEP,) if data.beep else ()))
        case Play(data=data):
            urls = (data.audio_url,) if isinstance(data.audio_url, str) else data.audio_url
            return tuple(Audio(each) for each in urls)


def prompt_sources(data: Prompt) -> tuple[Source, ...]:
    """Return the audio source of a prompt, if it has one."""
    if data.audio_url is not None:
        return (Audio(data.audio_url),)
    return (Speech(data.text, data.voice, data.language),) if data.text is not None else ()


def _collect(action: Action | None, found: dict[Source, None]) -> None:
    while action is not None and not isinstance(action, str):
        match action:
            case Play() | Say() | Record() | Gather():
                found.update(dict.fromkeys(verb_sources(action)))
                if isinstance(action, Gather):
                    _collect(action.data.fallback, found)
                if action.on_error is not None:
                    _collect(action.on_error, found)
            case Dial(data=data):
                _collect(data.whisper, found)
                found.update(dict.fromkeys(prompt_sources(data.confirm) if data.confirm else ()))
            case Pause() | Stream() | Flow() | Hangup():
                pass
        action = action.action
