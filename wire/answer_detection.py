"""What is done about who answered, before they are connected: a machine told from a person, a key.

All durations in milliseconds.
"""

from typing import Annotated, Literal

from msgspec import Meta

from wire import patterns
from wire.base import Language, Name, Shape, Url

AnsweredBy = Literal["human", "machine", "unknown"]
ListeningMs = Annotated[int, Meta(ge=100, le=30_000)]


class Prompt(Shape, frozen=True):
    """What is heard before keys are waited for: audio at an address, or a text to be spoken."""

    audio_url: Url | None = None
    text: Annotated[str, Meta(min_length=1, max_length=4000)] | None = None
    voice: Name | None = None
    language: Language = "en"


class Confirm(Prompt, frozen=True):
    """The key that whoever answered must press to be connected, and how long it is waited for."""

    digit: Annotated[str, Meta(pattern=patterns.DTMF_KEY)] = "1"
    timeout: Annotated[int, Meta(ge=500, le=60_000)] = 10_000


class Detection(Shape, frozen=True):
    """How a machine is told from a person.

    `initialSilence`: a machine says nothing for so long. `greeting`: a machine speaks for so long.
    `afterGreetingSilence`: a person who has spoken is silent for so long. `timeout`: not known.
    """

    enable: bool = True
    timeout: ListeningMs = 4_000
    initial_silence: ListeningMs = 2_500
    greeting: ListeningMs = 1_500
    after_greeting_silence: ListeningMs = 800


class MachineDetection(Detection, frozen=True):
    """Detection on a leg that is dialled: a machine is connected as a person is, or hung up."""

    on_machine: Literal["continue", "hangup"] = "continue"


def detection_settings(asked: Detection | bool) -> Detection | None:
    """Tell how to listen, whatever is done about a machine; None when it is not asked for."""
    if isinstance(asked, bool):
        return Detection() if asked else None
    if not asked.enable:
        return None
    return Detection(*(getattr(asked, name) for name in Detection.__struct_fields__))
