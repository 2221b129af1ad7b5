"""Streams of live calls over REST (docs/streams/live-calls.md)."""

from typing import Annotated

from fastapi import Depends, Path

from api.auth.dependencies import AuthenticatedUser
from api.http.routes import Body, Routes
from api.voice.dependencies import CONTROL_ERRORS, READ_ERRORS, CallId, Voice
from api.voice.routes import BASE
from api.voice.streams.schemas import StreamRequest, StreamStopRequest, StreamTextRequest
from api.voice.streams.service import StreamService
from wire.views import CallStreams

routes = Routes("Streams")
PATH = f"{BASE}/streams/{{callId}}"
StreamId = Annotated[str, Path(alias="streamId")]


async def _streams(voice: Voice) -> StreamService:
    return StreamService(voice)


Streams = Annotated[StreamService, Depends(_streams)]


@routes.get(
    PATH,
    id="streams.list",
    scope="calls",
    returns=CallStreams,
    errors=READ_ERRORS,
    summary="List the streams of a call",
)
async def list_streams(call_id: CallId, user: AuthenticatedUser, streams: Streams) -> bytes:
    """List the live streams of a call: bots that talk with the caller, and forks."""
    return await streams.list(user, call_id)


@routes.post(
    f"{PATH}/start",
    id="streams.start",
    scope="calls",
    returns=CallStreams,
    errors=CONTROL_ERRORS,
    summary="Let a bot listen to a call",
    example={"url": "wss://bot.example.com/listen", "track": "caller"},
    idempotent=True,
)
async def start_stream(
    call_id: CallId, user: AuthenticatedUser, streams: Streams, body: Body[StreamRequest]
) -> bytes:
    """Start a fork beside whatever the call does; its bot only listens."""
    return await streams.start(user, call_id, body)


@routes.post(
    f"{PATH}/{{streamId}}/stop",
    id="streams.stop",
    scope="calls",
    returns=CallStreams,
    errors=CONTROL_ERRORS,
    summary="Stop a stream",
    example={},
    idempotent=True,
)
async def stop_stream(
    call_id: CallId,
    stream_id: StreamId,
    user: AuthenticatedUser,
    streams: Streams,
    body: Body[StreamStopRequest],  # noqa: ARG001 - it has no fields
) -> bytes:
    """End a stream; the tree of a call that talks with a bot continues."""
    return await streams.stop(user, call_id, stream_id)


@routes.post(
    f"{PATH}/{{streamId}}/text",
    id="streams.sendText",
    scope="calls",
    returns=CallStreams,
    errors=CONTROL_ERRORS,
    summary="Send a text to a bot",
    example={"text": "the customer is number 4711"},
    idempotent=True,
)
async def send_text(
    call_id: CallId,
    stream_id: StreamId,
    user: AuthenticatedUser,
    streams: Streams,
    body: Body[StreamTextRequest],
) -> bytes:
    """Send a text to the bot of a stream, as a message of its protocol."""
    return await streams.send_text(user, call_id, stream_id, body)
