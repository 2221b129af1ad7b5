"""The recording of a live call over RPC, and how recordings are shown."""

from typing import get_args

from aiohttp import web

from engine.calls.model.call import Call
from engine.calls.model.recording import Tape
from engine.calls.model.requests import RecordingRequested, Wanted
from engine.calls.reporting.call_events import url_of
from engine.rpc.json_body import answer, read
from engine.rpc.lookup import live_call_of
from engine.runtime.service import Switch
from wire import control
from wire.views import CallRecordings, RecordingView


class RecordingHandlers:
    """Start, pause, resume and stop, each a path of its own."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    def routes(self) -> list[web.RouteDef]:
        """List what it answers."""
        return [self._route(wanted) for wanted in get_args(Wanted)]

    def _route(self, wanted: Wanted) -> web.RouteDef:
        async def handle(request: web.Request) -> web.Response:
            asked = await read(request, control.OnCall)
            call = await live_call_of(self._switch, request, asked.account)
            event = RecordingRequested(wanted)
            return answer(recorded_view(await self._switch.steer(call.id, event)))

        return web.post(f"/calls/{{call}}/recording/{wanted}", handle)


def recorded_view(call: Call) -> CallRecordings:
    """Show all recordings of a call."""
    return CallRecordings(call.id, recording_views(call))


def recording_views(call: Call) -> tuple[RecordingView, ...]:
    """Show each recording once: its tapes are one file, as the latest of them stands."""
    latest = {url_of(call, tape): tape for tape in call.tapes}
    return tuple(
        RecordingView(url, tape.purpose, _state(call, tape), tape.duration_ms)
        for url, tape in latest.items()
    )


def _state(call: Call, tape: Tape) -> str:
    is_paused = tape.state == "running" and tape.muted and not call.is_over
    return "paused" if is_paused else tape.state
