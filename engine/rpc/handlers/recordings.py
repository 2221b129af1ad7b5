"""The recording of a live call over RPC, and how recordings are shown."""

from typing import get_args

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.recording import Recording
from engine.calls.model.requests import RecordingAction, RecordingRequested
from engine.calls.reporting.call_events import recording_url
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import live_call_of
from engine.runtime.service import CallService
from wire import control
from wire.views import CallRecordings, RecordingView


class RecordingHandlers:
    """Start, pause, resume and stop, each a path of its own."""

    def __init__(self, switch: CallService) -> None:
        self._switch = switch

    def routes(self) -> list[web.RouteDef]:
        """List what it answers."""
        return [self._route(wanted) for wanted in get_args(RecordingAction)]

    def _route(self, wanted: RecordingAction) -> web.RouteDef:
        async def handle(request: web.Request) -> web.Response:
            asked = await read_body(request, control.CallControl)
            call = await live_call_of(self._switch, request, asked.account)
            event = RecordingRequested(wanted)
            return json_response(call_recordings_view(await self._switch.request(call.id, event)))

        return web.post(f"/calls/{{call}}/recording/{wanted}", handle)


def call_recordings_view(call: Call) -> CallRecordings:
    """Show all recordings of a call."""
    return CallRecordings(call.id, recording_views(call))


def recording_views(call: Call) -> tuple[RecordingView, ...]:
    """Show each recording once: its tapes are one file, as the latest of them stands."""
    latest = {recording_url(call, tape): tape for tape in call.recordings}
    return tuple(
        RecordingView(url, tape.purpose, _state(call, tape), tape.duration_ms)
        for url, tape in latest.items()
    )


def _state(call: Call, tape: Recording) -> str:
    is_paused = tape.state == "running" and tape.muted and not call.is_ended
    return "paused" if is_paused else tape.state
