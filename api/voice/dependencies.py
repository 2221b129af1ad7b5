"""What voice's routes are given: the services of this process.

Coroutines, though nothing is awaited: FastAPI runs plain functions in a thread, which takes longer.
"""

from typing import Annotated

from fastapi import Depends, Path, Request

from api.voice.service import VoiceService
from api.voice.sessions.service import SessionService

CONTROL_ERRORS = (401, 404, 409, 503)  # what may be answered about a live call
READ_ERRORS = (401, 404, 503)


async def voice(request: Request) -> VoiceService:
    """Give the service for calls."""
    found: VoiceService = request.app.state.services.voice
    return found


async def sessions(request: Request) -> SessionService:
    """Give the service for transfers and conferences."""
    return SessionService(await voice(request))


Voice = Annotated[VoiceService, Depends(voice)]
Sessions = Annotated[SessionService, Depends(sessions)]
CallId = Annotated[str, Path(alias="callId")]
