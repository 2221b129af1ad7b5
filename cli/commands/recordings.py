"""`switchroom recording`: starts and stops recordings of calls; lists, saves and deletes them."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from base.timeline import wording
from cli import call_view
from cli.command import rest_command
from cli.errors import UsageError
from cli.help import with_example
from cli.options.call_parts import CallId
from cli.output import Column, Shown, rows_shown, shown
from cli.rest_client import RestClient
from wire.views import CallRecordings

Url = Annotated[
    str, Parameter(name="URL", help="URL of the recording, as `recording list` shows it.")
]
RecordingState = Literal["start", "pause", "resume", "stop"]
DOWNLOAD_TIMEOUT_S = 600.0
_NO_RECORDING = "no recording yet: the call is not answered"
_COLUMNS: tuple[Column, ...] = (
    ("url", "url"),
    ("call", "callId"),
    ("time", "startTime"),
    ("length", lambda row: wording.seconds(row["durationMs"]) if row["durationMs"] else ""),
    ("transcript", "transcript"),
)
_SEGMENTS: tuple[Column, ...] = (
    ("at", lambda row: wording.seconds(row["startMs"])),
    ("leg", "channel"),
    ("confidence", lambda row: f"{row['confidence']:.2f}"),
    ("text", "text"),
)

recording = App(
    name="recording",
    help=with_example("Record calls; list, save and delete recordings.", "recording list"),
)


@recording.command
@rest_command
async def start(rest: RestClient, call_id: CallId) -> Shown:
    """Start the recording of a call.

    Example: switchroom recording start 3-pbx1-7f3a
    """
    return await _change(rest, call_id, "start")


@recording.command
@rest_command
async def pause(rest: RestClient, call_id: CallId) -> Shown:
    """Pause the recording of a call.

    Example: switchroom recording pause 3-pbx1-7f3a
    """
    return await _change(rest, call_id, "pause")


@recording.command
@rest_command
async def resume(rest: RestClient, call_id: CallId) -> Shown:
    """Continue the recording of a call.

    Example: switchroom recording resume 3-pbx1-7f3a
    """
    return await _change(rest, call_id, "resume")


@recording.command
@rest_command
async def stop(rest: RestClient, call_id: CallId) -> Shown:
    """Stop the recording of a call.

    Example: switchroom recording stop 3-pbx1-7f3a
    """
    return await _change(rest, call_id, "stop")


@recording.command(name="list")
@rest_command
async def list_(  # noqa: PLR0913 - one for each filter
    rest: RestClient,
    *,
    call: Annotated[str, Parameter(help="Only recordings of this call.")] = "",
    purpose: Annotated[
        Literal["call", "voicemail"], Parameter(help="Of calls, or voicemails.")
    ] = "call",
    since: Annotated[str, Parameter(help="Only of calls that started then or later.")] = "",
    until: Annotated[
        str, Parameter(help="Only of calls that started before, or on this day.")
    ] = "",
    limit: Annotated[int, Parameter(help="Maximum number of recordings.")] = 100,
) -> Shown:
    """List recordings, those of the newest calls first.

    Example: switchroom recording list --call 3-pbx1-7f3a
    """
    given = {"callId": call, "startTime": since, "endTime": until}
    query = {"purpose": purpose} | {name: text for name, text in given.items() if text}
    rows = [each async for each in rest.rows("recordings", query=query, limit=limit)]
    return rows_shown(rows, _COLUMNS, "no recordings")


@recording.command
@rest_command
async def save(
    rest: RestClient,
    url: Url,
    file: Annotated[Path, Parameter(help="File to write; it must not exist.")],
) -> Shown:
    """Save the audio of a recording.

    Example: switchroom recording save recordings/acme/2026-11-26/3-pbx1-7f3a.wav call.wav
    """
    audio = await rest.download(*_path(url), timeout_s=DOWNLOAD_TIMEOUT_S)
    try:
        with file.open("xb") as output:
            output.write(audio)
    except OSError as error:
        raise UsageError(f"{file}: {(error.strerror or str(error)).lower()}") from None
    return shown({"file": str(file), "bytes": len(audio)}, f"{file}: {len(audio)} bytes")


@recording.command
@rest_command
async def transcript(rest: RestClient, url: Url) -> Shown:
    """Show what is said in a recording, or how far its transcript is.

    Example: switchroom recording transcript recordings/acme/2026-11-26/3-pbx1-7f3a.wav
    """
    return _transcript(await rest.request(dict[str, Any], "GET", *_path(url), "transcript"))


@recording.command
@rest_command
async def transcribe(rest: RestClient, url: Url) -> Shown:
    """Request the transcript of a recording of an ended call, also if an earlier one has failed.

    Example: switchroom recording transcribe recordings/acme/2026-11-26/3-pbx1-7f3a.wav
    """
    return _transcript(await rest.request(dict[str, Any], "POST", *_path(url), "transcript"))


@recording.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient, url: Url) -> Shown:
    """Delete a recording.

    Example: switchroom recording rm recordings/acme/2026-11-26/3-pbx1-7f3a.wav
    """
    return shown(await rest.remove("recording", url, *_path(url)))


def _path(url: str) -> tuple[str, ...]:
    """Return the path of a recording, which is at the end of its URL."""
    match url.partition("?")[0].rstrip("/").split("/"):
        case [*_, account, day, file] if account and day and file:
            return ("recordings", "files", account, day, file)
    raise UsageError(f"{url}: a URL that ends in ACCOUNT/DAY/FILE is expected")


def _transcript(found: dict[str, Any]) -> Shown:
    match found:
        case {"state": "done", "segments": segments}:
            return Shown(found, rows_shown(segments, _SEGMENTS, "nothing is said").items)
        case {"state": "failed", "reason": reason, "detail": detail}:
            return shown(found, f"failed: {detail} ({reason})")
        case _:
            return shown(found, f"the transcript is {found.get('state')}")


async def _change(rest: RestClient, call_id: str, action: RecordingState) -> Shown:
    path = ("voice", "call", call_id, "recording", action)
    view = await rest.request(CallRecordings, "POST", *path, body={})
    items = map(call_view.recording, view.recordings)
    return shown(view, *(items if view.recordings else [_NO_RECORDING]))
