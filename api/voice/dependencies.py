"""Dependencies of the voice routes."""

from typing import Annotated

from fastapi import Depends, Path, Query

from api.http.services import service
from api.voice.service import VoiceService
from api.voice.sessions.service import SessionService

CONTROL_ERRORS = (404, 409, 503)  # of requests about a live call
READ_ERRORS = (404, 503)
Voice = Annotated[VoiceService, service("voice")]
CallId = Annotated[str, Path(alias="callId")]
After = Annotated[
    str | None,
    Query(
        max_length=64,
        pattern=r"^([0-9]{1,9}\.[0-9]{1,15}-[0-9]{1,9})?$",
        description="The `next` of an earlier timeline: shows what is new since.",
    ),
]


async def _sessions(voice: Voice) -> SessionService:
    return SessionService(voice)


Sessions = Annotated[SessionService, Depends(_sessions)]
