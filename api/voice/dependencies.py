"""Dependencies of the voice routes.

They are coroutines although they await nothing: FastAPI runs plain functions in a thread, which is
slower.
"""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.voice.service import VoiceService
from api.voice.sessions.service import SessionService

CONTROL_ERRORS = (404, 409, 503)  # of requests about a live call
READ_ERRORS = (404, 503)


async def _voice(request: Request) -> VoiceService:
    service: VoiceService = request.app.state.services.voice
    return service


async def _sessions(request: Request) -> SessionService:
    return SessionService(await _voice(request))


Voice = Annotated[VoiceService, Depends(_voice)]
Sessions = Annotated[SessionService, Depends(_sessions)]
CallId = Annotated[str, Path(alias="callId")]
