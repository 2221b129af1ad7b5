"""Whether and how an account's recordings are transcribed."""

from typing import Annotated

from msgspec import Meta, Struct

from wire.base import Language
from wire.streams.recognizer import MAX_HINT_LENGTH, RecognizerName

MAX_TRANSCRIPT_HINTS = 100  # an account is read with each call that it makes
_Hint = Annotated[str, Meta(min_length=1, max_length=MAX_HINT_LENGTH)]


class TranscriptSetting(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Who transcribes an account's recordings; `hints` are names and words that are likely."""

    recognizer: RecognizerName
    language: Language = "en-US"
    hints: Annotated[tuple[_Hint, ...], Meta(max_length=MAX_TRANSCRIPT_HINTS)] = ()
