"""RPC operations on the recording of a live call."""

from aiohttp import web
from msgspec import Struct

from engine.calls.model.requests import RecordingAction, RecordingRequested
from engine.rpc.json_body import json_response, read_body
from engine.rpc.lookup import live_call_of
from engine.rpc.views.recordings import call_recordings_view
from engine.runtime.service import CallService
from wire import control


class RecordingHandlers(Struct, frozen=True):
    service: CallService

    async def start(self, request: web.Request) -> web.Response:
        return await self._request(request, "start")

    async def pause(self, request: web.Request) -> web.Response:
        return await self._request(request, "pause")

    async def resume(self, request: web.Request) -> web.Response:
        return await self._request(request, "resume")

    async def stop(self, request: web.Request) -> web.Response:
        return await self._request(request, "stop")

    async def _request(self, request: web.Request, action: RecordingAction) -> web.Response:
        body = await read_body(request, control.CallControl)
        call = await live_call_of(self.service, request, body.account)
        call = await self.service.request(call.id, RecordingRequested(action))
        return json_response(call_recordings_view(call))
