"""Streams of an account's live calls, mapped to the engine's requests."""

from typing import Any

from msgspec import Struct

from api.auth.principal import Principal
from api.common.projection import project
from api.engine_client import call_path, id_in_path
from api.voice.service import VoiceService
from api.voice.streams.schemas import StreamRequest, StreamTextRequest
from wire import control


class StreamService(Struct, frozen=True):
    """Operations on streams."""

    voice: VoiceService

    async def list(self, user: Principal, call_id: str) -> bytes:
        """List the live streams of a call."""
        path = call_path(call_id, "/streams")
        return await self.voice.engine.request_raw("GET", path, query={"account": user.account_id})

    async def start(self, user: Principal, call_id: str, body: StreamRequest) -> bytes:
        """Let a bot listen to a call."""
        request = project(control.StartStream, body, account=user.account_id)
        return await self._post(call_id, "/streams", request)

    async def stop(self, user: Principal, call_id: str, stream: str) -> bytes:
        """End a stream; the call's tree continues."""
        request = control.CallControl(account=user.account_id)
        return await self._post(call_id, f"/streams/{id_in_path(stream)}/stop", request)

    async def send_text(
        self, user: Principal, call_id: str, stream: str, body: StreamTextRequest
    ) -> bytes:
        """Send a text to the bot of a stream."""
        request = project(control.SendStreamText, body, account=user.account_id)
        return await self._post(call_id, f"/streams/{id_in_path(stream)}/text", request)

    async def _post(self, call_id: str, path: str, request: Any) -> bytes:
        return await self.voice.engine.request_raw("POST", call_path(call_id, path), request)
