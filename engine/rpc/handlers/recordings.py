"""RPC operations on the recording of a live call."""

from aiohttp import web
from msgspec import Struct

from engine.calls.model.requests import RecordingAction, RecordingRequested
from engine.rpc.lookup import live_call_of
from engine.rpc.views.recordings import call_recordings_view
from engine.runtime.call_service import CallService
from wire.control import CallControl
from wire.views import CallRecordings


class RecordingHandlers(Struct, frozen=True):
    service: CallService

    async def start(self, request: web.Request, body: CallControl) -> CallRecordings:
        return await self._request(request, body, "start")

    async def pause(self, request: web.Request, body: CallControl) -> CallRecordings:
        return await self._request(request, body, "pause")

    async def resume(self, request: web.Request, body: CallControl) -> CallRecordings:
        return await self._request(request, body, "resume")

    async def stop(self, request: web.Request, body: CallControl) -> CallRecordings:
        return await self._request(request, body, "stop")

    async def _request(
        self, request: web.Request, body: CallControl, action: RecordingAction
    ) -> CallRecordings:
        call = await live_call_of(self.service, request, body.account)
        call = await self.service.request(call.id, RecordingRequested(action))
        return call_recordings_view(call)
