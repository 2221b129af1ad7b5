"""SimBridges: who hears whom on a PBX: its mixing bridges, and channels that snoop on others."""

from typing import ClassVar

import msgspec

from engine.ari.request import Reply
from tests.harness.sim.channel import SimBridge, SimChannel
from tests.harness.sim.request import (
    GONE,
    KNOWN,
    NO_CONTENT,
    NO_SNOOP,
    NOT_FOUND,
    OK,
    OUTSIDE,
    Asked,
    Deeds,
)
from tests.harness.sim.sounds import SimSounds

SNOOP_ENDS_MS = 11  # after whom it hears


class SimBridges(SimSounds):
    """The requests about bridges and snoops."""

    def restarts(self) -> None:
        """Lose everything, without a word."""
        super().restarts()
        for bridge in list(self.bridges.values()):
            self._take_down(bridge)

    def _list_bridges(self, _asked: Asked) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.bridges.values()]))

    def _create(self, asked: Asked) -> Reply:
        if asked.target in self.bridges:
            return KNOWN
        self.bridges[asked.target] = SimBridge(asked.target, self._clock.at_ms)
        return OK

    def _destroy(self, asked: Asked) -> Reply:
        bridge = self.bridges.get(asked.target)
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

    def _add(self, asked: Asked) -> Reply | None:
        bridge = self.bridges.get(asked.target)
        if bridge is None:
            return NOT_FOUND
        found = (self.channels.get(each) for each in asked.query["channel"].split(","))
        channels = [each for each in found if each is not None and each.in_stasis]
        if len(channels) < len(asked.query["channel"].split(",")):
            return GONE
        for channel in channels:
            if channel.playing:
                channel.blocked.append(lambda: self._later(asked, self._add(asked)))
                return None
        for channel in channels:
            self._join(channel, bridge)
        return NO_CONTENT

    def _remove(self, asked: Asked) -> Reply | None:
        bridge = self.bridges.get(asked.target)
        channel = self.channels.get(asked.query["channel"])
        if bridge is None:
            return NOT_FOUND
        if channel is None:
            return GONE
        if channel.bridge is not bridge:
            return OUTSIDE
        if channel.playing:
            channel.blocked.append(lambda: self._later(asked, self._remove(asked)))
            return None
        self._leave(channel)
        return NO_CONTENT

    def _later(self, asked: Asked, answer: Reply | None) -> None:
        if answer is not None:
            asked.reply(answer)

    def _join(self, channel: SimChannel, bridge: SimBridge) -> None:
        if channel.bridge is not bridge:
            self._leave(channel)
            channel.bridge = bridge
            bridge.members.append(channel)
            channel.begin("bridge", bridge.id, self._clock.at_ms)
            self._look_for_music(channel)

    # Snoops

    def _snoop(self, asked: Asked) -> Reply:
        target = self.channels.get(asked.target)
        if target is None:
            return NOT_FOUND
        if asked.more in self.channels:
            return NO_SNOOP
        snoop = self._channel(asked.more, f"Snoop/{target.id}", asked.query["app"])
        snoop.state, snoop.up_ms, snoop.snooped = "Up", self._clock.at_ms, target
        if self.is_heard(snoop.app):
            self._entered(snoop, *asked.query.get("appArgs", "").split(","))
        else:
            self._end(snoop, 0, 0)  # Stasis() fails
        return OK

    def _end(self, channel: SimChannel, cause: int, sip: int) -> None:
        super()._end(channel, cause, sip)
        for snoop in [each for each in self.channels.values() if each.snooped is channel]:
            self._clock.after(SNOOP_ENDS_MS, self.hangs_up, self, snoop)

    DEEDS: ClassVar[Deeds] = {
        **SimSounds.DEEDS,
        ("GET", "bridges", ""): _list_bridges,
        ("POST", "bridges", ""): _create,
        ("POST", "bridges", "addChannel"): _add,
        ("POST", "bridges", "removeChannel"): _remove,
        ("DELETE", "bridges", ""): _destroy,
        ("POST", "channels", "snoop"): _snoop,
    }
