"""`/srmain/recordings…`: recordings of an account; `/media/recordings…`: signed addresses."""

from typing import Annotated

from fastapi import Header, Path, Query
from starlette.responses import Response

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Routes
from api.http.services import service
from api.recordings.paths import recording_path
from api.recordings.schemas import RecordingPage, RecordingQuery
from api.recordings.service import FILES, RecordingService
from api.recordings.signed_urls import BASE

routes = Routes("Recordings")
Recordings = Annotated[RecordingService, service("recordings")]
AccountId = Annotated[str, Path(alias="accountId", max_length=64)]
Day = Annotated[str, Path(max_length=10)]
File = Annotated[str, Path(max_length=160)]
Part = Annotated[str | None, Header(alias="Range", max_length=64)]
_FILE = "/{accountId}/{day}/{file}"


@routes.get("/srmain/recordings", id="recordings.list", scope="recordings")
async def list_recordings(
    user: AuthenticatedUser, query: Annotated[RecordingQuery, Query()], recordings: Recordings
) -> RecordingPage:
    """List recordings of ended calls, those of the newest calls first.

    A page has the recordings of `limit` calls. What a live call has recorded is listed when the
    call has ended; before that, its file is at the `recordingUrl` of the event `recorded` and of
    the webhook after `record`.
    """
    return await recordings.list(user, query)


@routes.get(f"{FILES}{_FILE}", id="recordings.download", scope="recordings", errors=(404, 416, 503))
async def get_recording(  # noqa: PLR0913, PLR0917 - the parts of the path, and what FastAPI provides
    user: AuthenticatedUser,
    account_id: AccountId,
    day: Day,
    file: File,
    recordings: Recordings,
    part: Part = None,
) -> Response:
    """Send the audio of a recording; `Range` selects a part."""
    return recordings.file(user, account_id, day, file, part)


@routes.delete(
    f"{FILES}{_FILE}", id="recordings.delete", scope="recordings", errors=(404, 503), status=204
)
async def delete_recording(
    user: AuthenticatedUser, account_id: AccountId, day: Day, file: File, recordings: Recordings
) -> Response:
    """Delete a recording."""
    await recordings.delete(user, account_id, day, file)
    return Response(status_code=204)


@routes.get(f"{BASE}{_FILE}", id="recordings.downloadSigned", errors=(404, 416, 503))
async def get_signed_recording(  # noqa: PLR0913, PLR0917 - the parts of the address
    account_id: AccountId,
    day: Day,
    file: File,
    expires: Annotated[int, Query(ge=0, le=2**40)],
    signature: Annotated[str, Query(max_length=64)],
    recordings: Recordings,
    part: Part = None,
) -> Response:
    """Send the audio of a recording to a client with its signed address."""
    return recordings.signed_file(recording_path(account_id, day, file), expires, signature, part)
