"""The channels of streams at their PBX: created for a gateway to connect to, and hung up."""

import asyncio

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.models import Channel
from engine.ari.generated.operations import channels
from engine.ari.request import OnReply, Reply, Request, ask
from engine.calls.model.call_id_format import call_of
from engine.calls.model.stream_commands import StartStream
from engine.runtime.base.interfaces import Pbx
from engine.runtime.streams.setup import channel_format
from engine.runtime.streams.slot import StreamSlot

log = structlog.get_logger()
CONNECTION_VARIABLE = "MEDIA_WEBSOCKET_CONNECTION_ID"
CONFLICT = 409
PBX_RETRIES_S = (0.1, 0.3, 1.0)
_decode_channel = msgspec.json.Decoder(Channel).decode


class StreamChannels:
    """The stream channels of one PBX."""

    def __init__(self, pbx: Pbx) -> None:
        self._pbx = pbx

    async def create(self, command: StartStream, slot: StreamSlot) -> str | None:
        """Return the id of a channel's websocket; the channel may exist already."""
        reply = await self._ask(
            channels.external_media(
                app=slot.app,
                channel_id=command.stream,
                external_host="INCOMING",
                transport="websocket",
                connection_type="server",
                encapsulation="none",
                format=channel_format(command.data),
                transport_data="f(json)",
            ),
            command.stream,
            slot,
        )
        if reply.status == CONFLICT:
            reply = await self._ask(channels.get(command.stream), command.stream, slot)
        if not reply.ok:
            log.warning("no stream channel", stream=command.stream, status=reply.status)
            return None
        variables = _decode_channel(reply.body).channelvars or {}
        connection = variables.get(CONNECTION_VARIABLE)
        return str(connection) if connection else None

    async def hang_up(self, stream: str, slot: StreamSlot) -> None:
        """Hang a stream's channel up, which its gateway notices."""
        await self._ask(channels.hangup(stream), stream, slot)

    async def _ask(self, request: Request, stream: str, slot: StreamSlot) -> Reply:
        slot.check()
        reply = await self._send(request, stream)
        for delay_s in PBX_RETRIES_S:
            if reply.status != 0:
                break
            await asyncio.sleep(delay_s)
            slot.check()
            reply = await self._send(request, stream)
        return reply

    async def _send(self, request: Request, stream: str) -> Reply:
        """Send on a websocket that is open: of many new connections at once a PBX loses some."""
        return await ask(_CallRequests(self._pbx, call_of(stream) or stream), request)


class _CallRequests(Struct, frozen=True):
    """Sends requests of one call in order; implements `Transport`."""

    pbx: Pbx
    call_id: str

    def send(self, request: Request, on_reply: OnReply) -> None:
        self.pbx.send(request, self.call_id, False, on_reply)
