"""Dependencies of the voice routes."""

from typing import Annotated

from fastapi import Depends, Path

from api.http.services import service
from api.voice.service import VoiceService
from api.voice.sessions.service import SessionService

CONTROL_ERRORS = (404, 409, 503)  # of requests about a live call
READ_ERRORS = (404, 503)
Voice = Annotated[VoiceService, service("voice")]
CallId = Annotated[str, Path(alias="callId")]


async def _sessions(voice: Voice) -> SessionService:
    return SessionService(voice)


Sessions = Annotated[SessionService, Depends(_sessions)]
