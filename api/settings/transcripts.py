"""Settings of the transcripts of recordings."""

from typing import Annotated, Self

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
    model_validator,
)

from base.settings import Secret

RecognizerUrl = Annotated[str, StringConstraints(pattern=r"^wss?://[^\s/?#]+(/[^\s?#]*)?$")]


class TranscriptSettings(BaseModel):
    """Transcripts of recordings."""

    transcript_recognizers: tuple[RecognizerUrl, ...] = Field(
        (),
        description=(
            "JSON list of the addresses of `switchroom speech` that transcribe recordings, such as"
            ' `["ws://127.0.0.1:8096"]`, verified as engines are; none: this process transcribes'
            " nothing ([transcripts](recordings.md#transcripts))."
        ),
    )
    speech_token: Secret | None = Field(
        None, description="The token of the recognizers, which they have, too."
    )
    transcript_workers: int = Field(
        2, ge=1, le=64, description="Recordings that this process transcribes at a time."
    )
    transcript_max_minutes: int = Field(
        240, ge=1, le=1_440, description="Longest recording that is transcribed."
    )

    @model_validator(mode="after")
    def _check_token(self) -> Self:
        if self.transcript_recognizers and self.speech_token is None:
            raise ValueError("transcript_recognizers need speech_token")
        return self
