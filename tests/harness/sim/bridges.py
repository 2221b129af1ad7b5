"""SimBridges: mixing bridges of a PBX, and channels that snoop on others."""

from typing import ClassVar

import msgspec

from engine.ari.request import Reply
from tests.harness.sim.ari_request import (
    ALREADY_EXISTS,
    BAD_CHANNEL,
    NO_CONTENT,
    NOT_FOUND,
    NOT_IN_BRIDGE,
    OK,
    SNOOP_FAILED,
    AriRequest,
    Handlers,
)
from tests.harness.sim.model import SimBridge, SimChannel
from tests.harness.sim.sounds import SimSounds

SNOOP_ENDS_MS = 11  # after the channel that is snooped on


class SimBridges(SimSounds):
    """ARI requests about bridges and snoop channels."""

    def restart(self) -> None:
        """Lose all channels and bridges without an event."""
        super().restart()
        for bridge in list(self.bridges.values()):
            self._take_down(bridge)

    def _list_bridges(self, _request: AriRequest) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.bridges.values()]))

    def _create(self, request: AriRequest) -> Reply:
        if request.target in self.bridges:
            return ALREADY_EXISTS
        self.bridges[request.target] = SimBridge(request.target, self._clock.at_ms)
        return OK

    def _destroy(self, request: AriRequest) -> Reply:
        bridge = self.bridges.get(request.target)
        if bridge is None:
            return NOT_FOUND
        for channel in list(bridge.members):
            self._leave(channel)
        self._take_down(bridge)
        return NO_CONTENT

    def _take_down(self, bridge: SimBridge) -> None:
        del self.bridges[bridge.id]
        bridge.ended_ms = self._clock.at_ms
        self.past_bridges.append(bridge)

    def _add(self, request: AriRequest) -> Reply | None:
        bridge = self.bridges.get(request.target)
        if bridge is None:
            return NOT_FOUND
        found = (self.channels.get(each) for each in request.query["channel"].split(","))
        channels = [each for each in found if each is not None and each.in_stasis]
        if len(channels) < len(request.query["channel"].split(",")):
            return BAD_CHANNEL
        for channel in channels:
            if channel.playing:
                channel.blocked.append(lambda: self._later(request, self._add(request)))
                return None
        for channel in channels:
            self._join(channel, bridge)
        return NO_CONTENT

    def _remove(self, request: AriRequest) -> Reply | None:
        bridge = self.bridges.get(request.target)
        channel = self.channels.get(request.query["channel"])
        if bridge is None:
            return NOT_FOUND
        if channel is None:
            return BAD_CHANNEL
        if channel.bridge is not bridge:
            return NOT_IN_BRIDGE
        if channel.playing:
            channel.blocked.append(lambda: self._later(request, self._remove(request)))
            return None
        self._leave(channel)
        return NO_CONTENT

    def _later(self, request: AriRequest, answer: Reply | None) -> None:
        if answer is not None:
            request.reply(answer)

    def _join(self, channel: SimChannel, bridge: SimBridge) -> None:
        if channel.bridge is not bridge:
            self._leave(channel)
            channel.bridge = bridge
            bridge.members.append(channel)
            channel.begin("bridge", bridge.id, self._clock.at_ms)
            self._look_for_music(channel)

    # Snoops

    def _snoop(self, request: AriRequest) -> Reply:
        target = self.channels.get(request.target)
        if target is None:
            return NOT_FOUND
        if request.more in self.channels:
            return SNOOP_FAILED
        snoop = self._channel(request.more, f"Snoop/{target.id}", request.query["app"])
        snoop.state, snoop.up_ms, snoop.snooped = "Up", self._clock.at_ms, target
        if self.is_heard(snoop.app):
            self._enter_stasis(snoop, *request.query.get("appArgs", "").split(","))
        else:
            self._end(snoop, 0, 0)  # Stasis() fails
        return OK

    def _end(self, channel: SimChannel, cause: int, sip: int) -> None:
        super()._end(channel, cause, sip)
        for snoop in [each for each in self.channels.values() if each.snooped is channel]:
            self._clock.after(SNOOP_ENDS_MS, self.hangs_up, self, snoop)

    HANDLERS: ClassVar[Handlers] = {
        **SimSounds.HANDLERS,
        ("GET", "bridges", ""): _list_bridges,
        ("POST", "bridges", ""): _create,
        ("POST", "bridges", "addChannel"): _add,
        ("POST", "bridges", "removeChannel"): _remove,
        ("DELETE", "bridges", ""): _destroy,
        ("POST", "channels", "snoop"): _snoop,
    }
