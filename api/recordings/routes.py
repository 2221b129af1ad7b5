"""`/srmain/recordings…`: recordings of an account; `/media/recordings…`: signed addresses."""

from typing import Annotated

from fastapi import Header, Path, Query
from starlette.responses import Response

from api.auth.dependencies import AuthenticatedUser
from api.common.recording_paths import recording_path
from api.http.routes import Routes
from api.http.services import service
from api.recordings.schemas import RecordingPage, RecordingQuery, TranscriptView
from api.recordings.service import BASE, FILES, RecordingService, own_path

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


@routes.get(
    f"{FILES}{_FILE}",
    id="recordings.download",
    scope="recordings",
    errors=(404, 416, 503),
    has_file=True,
)
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
    f"{FILES}{_FILE}",
    id="recordings.delete",
    scope="recordings:delete",
    errors=(404, 503),
    status=204,
)
async def delete_recording(
    user: AuthenticatedUser, account_id: AccountId, day: Day, file: File, recordings: Recordings
) -> Response:
    """Delete a recording."""
    await recordings.delete(user, account_id, day, file)
    return Response(status_code=204)


@routes.get(f"{FILES}{_FILE}/transcript", id="transcripts.get", scope="recordings", errors=(404,))
async def get_transcript(
    user: AuthenticatedUser, account_id: AccountId, day: Day, file: File, recordings: Recordings
) -> TranscriptView:
    """Show the transcript of a recording, or how far it is."""
    return await recordings.transcripts.get(own_path(user, account_id, day, file))


@routes.post(
    f"{FILES}{_FILE}/transcript",
    id="transcripts.request",
    scope="recordings",
    errors=(404, 409),
    status=202,
)
async def request_transcript(
    user: AuthenticatedUser, account_id: AccountId, day: Day, file: File, recordings: Recordings
) -> TranscriptView:
    """Transcribe a recording of an ended call, also if an earlier transcript has failed.

    Recordings of calls that ended since the account has `transcripts` are queued by themselves. A
    recording that is queued or transcribed stays as it is.
    """
    return await recordings.transcripts.request(own_path(user, account_id, day, file))


@routes.get(f"{BASE}{_FILE}", id="recordings.downloadSigned", errors=(404, 416, 503), has_file=True)
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
