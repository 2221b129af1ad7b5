"""SimAsterisk: one PBX as ARI shows it, by the rules measured on Asterisk 22.10 (docs/asterisk.md).

The engine calls `handle`; the PBX emits events.
"""

from collections.abc import Callable
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from engine.ari.request import Reply, Request
from engine.runtime.pbx.snapshot import FROM_VARIABLE, HOLD_VARIABLE
from tests.harness.sim.ari_request import (
    ALLOCATION_FAILED,
    ALREADY_EXISTS,
    NO_CONTENT,
    NOT_FOUND,
    NOT_IN_STASIS,
    OK,
    AriRequest,
    Handlers,
    SendReply,
)
from tests.harness.sim.model import WEBSOCKET, LocalHalf, SimChannel
from tests.harness.sim.recordings import MONITOR, SimRecordings

EXTERNAL_MEDIA = "externalMedia"
SOCKET_VARIABLE = "MEDIA_WEBSOCKET_CONNECTION_ID"


def _no_gateway(_channel: str) -> None:
    """Do nothing: no gateway has the websockets of channels."""


class SimAsterisk(SimRecordings):
    """All ARI requests that the engine sends to a PBX."""

    on_socket_closed: Callable[[str], None] = staticmethod(_no_gateway)  # of a stream's channel

    def handle(self, request: Request, reply: SendReply) -> None:
        """Handle a request; `reply` is called now or, where Asterisk would block, later."""
        kind, target, action, more, *_ = (*request.path.split("/"), "", "", "")
        if kind == "recordings":
            kind, target, action, more = f"{kind}/{target}", action, more, ""
        variables = (request.body or {}).get("variables", {})
        parsed = AriRequest(target, action, more, dict(request.query), reply, variables)
        answer = self.HANDLERS[request.method, kind, action](self, parsed)
        if answer is not None:
            reply(answer)

    def _list_channels(self) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.channels.values()]))

    def _list_or_show(self, request: AriRequest) -> Reply:
        if not request.target:
            return self._list_channels()
        return OK if request.target in self.channels else NOT_FOUND

    def _show_stream(self, channel: SimChannel) -> Reply:
        variables = {SOCKET_VARIABLE: f"socket of {channel.id}"}
        return Reply(200, msgspec.json.encode(replace(channel.shape(), channelvars=variables)))

    def connects(self, channel_id: str) -> bool:
        """Connect the websocket of a stream's channel, as a gateway does."""
        channel = self.channels.get(channel_id)
        if channel is None or channel.in_stasis:
            return False
        self._up(channel)
        if self.is_heard(channel.app):
            self._enter_stasis(channel)
        else:
            self._end(channel, 0, 0)  # Stasis() fails
        return True

    def closes(self, channel_id: str) -> None:
        """Close the websocket of a stream's channel, which ends it."""
        if channel := self.channels.get(channel_id):
            self.hangs_up(channel)

    def hears_caller(self, channel_id: str) -> bool:
        """Return whether a stream's channel is in a bridge with a snoop."""
        channel = self.channels.get(channel_id)
        members = channel.bridge.members if channel and channel.bridge else ()
        return any(each.snooped is not None for each in members)

    def _remove_channel(self, channel: SimChannel, cause: int) -> None:
        super()._remove_channel(channel, cause)
        if channel.endpoint == WEBSOCKET:
            self.on_socket_closed(channel.id)

    def _make(self, request: AriRequest) -> Reply:
        channel_id = request.query["channelId"]
        if channel_id in self.channels:
            assert request.target != EXTERNAL_MEDIA, "Asterisk ends with SIGSEGV"
            return ALREADY_EXISTS
        if request.target == EXTERNAL_MEDIA:
            return self._show_stream(self._channel(channel_id, WEBSOCKET, request.query["app"]))
        if not self._phones.is_reachable(request.query["endpoint"]):
            return ALLOCATION_FAILED
        channel = self._channel(channel_id, request.query["endpoint"], request.query["app"])
        if "otherChannelId" in request.query:
            arguments = request.variables["SWITCHROOM_REPLACES"]
            channel.local = LocalHalf(request.query["otherChannelId"], arguments)
        if self.is_heard(channel.app):
            self._enter_stasis(channel, "called")
        else:
            self._end(channel, 0, 0)  # Stasis() fails
        return OK

    def _pass_on(self, request: AriRequest) -> Reply:
        """Offer a channel to another app, as the context passed-on does, or end it."""
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        if not channel.in_stasis:
            return NOT_IN_STASIS
        slot, number = request.query["extension"][:3], request.query["extension"][3:]
        self._leave_stasis(channel)
        channel.app = f"{channel.app.rpartition('-')[0]}-{int(slot)}"
        if self.is_heard(channel.app):
            self._enter_stasis(channel, "inbound", number, "passed-on=yes")
        else:
            self._end(channel, 42, 0)
        return NO_CONTENT

    def _set_variable(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        channel.variables.add(request.query["variable"])
        return NO_CONTENT

    def _get_variable(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel and request.query["variable"] == MONITOR:
            return self.shown(channel)
        if channel and request.query["variable"] == HOLD_VARIABLE:
            value = "1" if "phone hold" in channel.open else "0"
            return Reply(200, msgspec.json.encode({"value": value}))
        if channel and request.query["variable"] == FROM_VARIABLE:
            user = "+15550001" if channel.is_dialled else "asterisk"
            return Reply(200, msgspec.json.encode({"value": f"<sip:{user}@sim>"}))
        if channel and request.query["variable"] == SOCKET_VARIABLE:
            return Reply(200, msgspec.json.encode({"value": f"socket of {channel.id}"}))
        return OK if channel and request.query["variable"] in channel.variables else NOT_FOUND

    def _change_silence(self, request: AriRequest) -> Reply:
        """Play silence, or end it: the engine ends it at once, so nothing else is heard."""
        return NO_CONTENT if request.target in self.channels else NOT_FOUND

    def _rtp_statistics(self, request: AriRequest) -> Reply:
        return OK if request.target in self.channels else NOT_FOUND

    def _dial(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        if channel.state != "Down":
            return ALREADY_EXISTS
        if channel.is_dialled:
            self.violations.append((channel.id, "dialled twice, which ends it"))
            self._end(channel, 16, 0)
            return NO_CONTENT
        if channel.id in self.past and self.past[channel.id].is_dialled:
            self.called_again.append(channel.id)
        channel.is_dialled = True
        if channel.local is not None:
            self._dial_local(channel, channel.local)
            return NO_CONTENT
        timeout_ms = int(request.query["timeout"]) * 1000
        self._clock.after(timeout_ms, self.refuses, self, channel, 480)
        self._phones.called(channel)
        return NO_CONTENT

    def _answer(self, request: AriRequest) -> Reply | None:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        if channel.playing:
            self.violations.append(
                (channel.id, "the lane of other calls blocked behind a playback")
            )
            channel.blocked.append(lambda: request.reply(self._answer(request) or NOT_FOUND))
            return None
        if channel.state != "Up":
            self._up(channel)
            if channel.local is None:
                self._phones.up(channel)
        return NO_CONTENT

    def _hang_up(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        cause = int(request.query.get("reason_code", "16"))
        is_shown = channel.state == "Up" or channel.local is not None
        self._end(channel, cause if is_shown else 16, 0)
        return NO_CONTENT

    HANDLERS: ClassVar[Handlers] = {
        **SimRecordings.HANDLERS,
        ("GET", "channels", ""): _list_or_show,
        ("POST", "channels", ""): _make,
        ("POST", "channels", "dial"): _dial,
        ("POST", "channels", "variable"): _set_variable,
        ("GET", "channels", "variable"): _get_variable,
        ("GET", "channels", "rtp_statistics"): _rtp_statistics,
        ("POST", "channels", "silence"): _change_silence,
        ("DELETE", "channels", "silence"): _change_silence,
        ("DELETE", "channels", ""): _hang_up,
        ("POST", "channels", "answer"): _answer,
        ("POST", "channels", "continue"): _pass_on,
    }
