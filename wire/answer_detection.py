"""Screening of an answered leg before it is connected: machine detection and a key to confirm.

All durations in milliseconds.
"""

from typing import Annotated, Literal

from msgspec import Meta

from wire.base import Language, Name, Shape, Url
from wire.decoding import patterns
from wire.media import Audio, Source, Speech

AnsweredBy = Literal["human", "machine", "unknown"]
ListeningMs = Annotated[int, Meta(ge=100, le=30_000)]


class Prompt(Shape, frozen=True):
    """A prompt before digits are collected: audio at an address, or a text to be spoken."""

    audio_url: Url | None = None
    text: Annotated[str, Meta(min_length=1, max_length=4000)] | None = None
    voice: Name | None = None
    language: Language = "en"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The audio of the prompt, if it has any."""
        if self.audio_url is not None:
            return (Audio(self.audio_url),)
        return (Speech(self.text, self.voice, self.language),) if self.text is not None else ()


class Confirm(Prompt, frozen=True):
    """The key that the answering person must press to be connected, and the timeout."""

    digit: Annotated[str, Meta(pattern=patterns.DTMF_KEY)] = "1"
    timeout: Annotated[int, Meta(ge=500, le=60_000)] = 10_000


class Detection(Shape, frozen=True):
    """Settings that distinguish a machine from a person.

    `initialSilence`: silence that means a machine. `greeting`: length of speech that means a
    machine. `afterGreetingSilence`: silence after speech that means a person. `timeout`: the result
    is unknown.
    """

    enable: bool = True
    timeout: ListeningMs = 4_000
    initial_silence: ListeningMs = 2_500
    greeting: ListeningMs = 1_500
    after_greeting_silence: ListeningMs = 800


class MachineDetection(Detection, frozen=True):
    """Detection on a dialed leg: a machine is connected like a person, or hung up."""

    on_machine: Literal["continue", "hangup"] = "continue"


def detection_settings(requested: Detection | bool) -> Detection | None:
    """Return the detection settings without the action on a machine; None: no detection."""
    if isinstance(requested, bool):
        return Detection() if requested else None
    if not requested.enable:
        return None
    return Detection(*(getattr(requested, name) for name in Detection.__struct_fields__))
