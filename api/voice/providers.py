"""What voice's routes are given: the services of this process, and how answers leave.

Coroutines, though nothing is awaited: FastAPI runs plain functions in a thread, which takes longer.
"""

from typing import Annotated

from fastapi import Depends, Path, Request, Response

from api.auth.service import Principal
from api.idempotency import Asked, Deed
from api.voice.service import VoiceService
from api.voice.sessions.service import SessionService

STEERED = (401, 404, 409, 503)  # what may be answered about a live call
SHOWN = (401, 404, 503)


async def voice(request: Request) -> VoiceService:
    """Give the service for calls."""
    found: VoiceService = request.app.state.parts.voice
    return found


async def sessions(request: Request) -> SessionService:
    """Give the service for transfers and conferences."""
    return SessionService(await voice(request))


Voice = Annotated[VoiceService, Depends(voice)]
Sessions = Annotated[SessionService, Depends(sessions)]
CallId = Annotated[str, Path(alias="callId")]


def told(answer: bytes, status: int = 200) -> Response:
    """Answer with what an engine said."""
    return Response(answer, status, media_type="application/json")


async def once(request: Request, who: Principal, key: str | None, deed: Deed) -> bytes:
    """Do a deed; with an idempotency key, once."""
    if key is None:
        return await deed("")
    asked = Asked(who.account_id, key, request.url.path, await request.body())
    answer: bytes = await request.app.state.parts.idempotency.once(asked, deed)
    return answer
