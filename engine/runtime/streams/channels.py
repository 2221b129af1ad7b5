"""The channels of streams at their PBX: created for a gateway to connect to, and hung up."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog
from msgspec import Struct

from engine.ari.generated.models import Channel, Variable
from engine.ari.generated.operations import channels
from engine.ari.request import NOT_FOUND, OnReply, Reply, Request, ask
from engine.calls.model.stream_commands import StartStream
from engine.runtime.base.interfaces import Pbx
from engine.runtime.streams.setup import channel_format
from engine.store.store import LeaseView
from wire.call_id_format import call_of


class LeaseLost(Exception):
    """Another engine may own the call by now; it runs the command again."""


class StreamSlot(Struct, frozen=True):
    """A slot of one owner; each request of its commands is checked, as commands take a while."""

    app: str
    lease: LeaseView

    def check(self) -> None:
        """Raise LeaseLost if the lease is over."""
        if not self.lease.holds:
            raise LeaseLost


log = structlog.get_logger()
CONNECTION_VARIABLE = "MEDIA_WEBSOCKET_CONNECTION_ID"
PBX_RETRIES_S = (0.1, 0.3, 1.0)
_decode_channel = msgspec.json.Decoder(Channel).decode
_decode_variable = msgspec.json.Decoder(Variable).decode


class StreamChannels:
    """The stream channels of one PBX."""

    def __init__(self, pbx: Pbx) -> None:
        self._pbx = pbx

    async def create(
        self, command: StartStream, slot: StreamSlot, is_wanted: Callable[[], bool]
    ) -> str | None:
        """Return the id of a channel's websocket; the channel may exist already.

        Meanwhile the stream may be stopped, whose hangup finds no channel: then none is created.
        """
        for delay_s in (*PBX_RETRIES_S, 0.0):
            reply, connection = await self._find_or_create(command, slot, is_wanted)
            if reply.status != 0 or not is_wanted():
                break
            await asyncio.sleep(delay_s)
        if not connection and is_wanted():
            log.warning("no stream channel", stream=command.stream, status=reply.status)
        return connection or None

    async def _find_or_create(
        self, command: StartStream, slot: StreamSlot, is_wanted: Callable[[], bool]
    ) -> tuple[Reply, str]:
        """Return the id of a channel's websocket; the channel is created if there is none.

        Asterisk 22.10 ends with SIGSEGV when a websocket channel gets an id that is in use, instead
        of a conflict (docs/asterisk.md). So the channel of a repeated command is looked for before.
        """
        slot.check()
        known = channels.get_channel_var(command.stream, variable=CONNECTION_VARIABLE)
        reply = await self._send(known, command.stream)
        if reply.ok:
            return reply, _decode_variable(reply.body).value
        if reply.status != NOT_FOUND or not is_wanted():
            return reply, ""
        slot.check()
        reply = await self._send(_creation(command, slot), command.stream)
        variables = (_decode_channel(reply.body).channelvars or {}) if reply.ok else {}
        return reply, str(variables.get(CONNECTION_VARIABLE, ""))

    async def hang_up(self, stream: str, slot: StreamSlot) -> None:
        """Hang a stream's channel up, which its gateway notices."""
        for delay_s in (*PBX_RETRIES_S, 0.0):
            slot.check()
            reply = await self._send(channels.hangup(stream), stream)
            if reply.status != 0:
                return
            await asyncio.sleep(delay_s)

    async def _send(self, request: Request, stream: str) -> Reply:
        """Send on a websocket that is open: of many new connections at once a PBX loses some."""
        return await ask(_CallRequests(self._pbx, call_of(stream) or stream), request)


def _creation(command: StartStream, slot: StreamSlot) -> Request:
    return channels.external_media(
        app=slot.app,
        channel_id=command.stream,
        external_host="INCOMING",
        transport="websocket",
        connection_type="server",
        encapsulation="none",
        format=channel_format(command.data),
        transport_data="f(json)",
    )


class _CallRequests(Struct, frozen=True):
    """Sends requests of one call in order; implements `Transport`."""

    pbx: Pbx
    call_id: str

    def send(self, request: Request, on_reply: OnReply) -> None:
        self.pbx.send(request, self.call_id, False, on_reply)
