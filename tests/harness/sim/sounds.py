"""SimSounds: what the engine asks of a PBX to be heard, or not: prompts, music, ringing, mutes."""

from typing import ClassVar

from engine.ari.request import Reply
from tests.harness.sim.player import SimPlayer
from tests.harness.sim.request import CREATED, NO_CONTENT, NOT_FOUND, OK, Asked, Deeds

MUTES = {"in": ("mute in",), "out": ("mute out",), "both": ("mute in", "mute out")}


class SimSounds(SimPlayer):
    """The requests about sounds."""

    def _begin_sound(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.begin(asked.deed, asked.deed, self._clock.at_ms)
        self._look_for_music(channel)
        return NO_CONTENT

    def _end_sound(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.end(asked.deed, self._clock.at_ms)
        return NO_CONTENT

    def _mute(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        for kind in MUTES[asked.query["direction"]]:
            channel.begin(kind, channel.id, self._clock.at_ms)
        return NO_CONTENT

    def _unmute(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        for kind in MUTES[asked.query["direction"]]:
            channel.end(kind, self._clock.at_ms)
        return NO_CONTENT

    def _play_on(self, asked: Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        offset_ms = int(asked.query.get("offsetms", "0"))
        self._play(channel, asked.more, asked.query["media"].split(","), offset_ms)
        return CREATED

    def _show_playback(self, asked: Asked) -> Reply:
        return OK if asked.target in self.playbacks else NOT_FOUND

    def _stop_playback(self, asked: Asked) -> Reply:
        playback = self.playbacks.get(asked.target)
        if playback is None or playback.stopped:
            return NOT_FOUND
        self._stop(playback)
        return NO_CONTENT

    DEEDS: ClassVar[Deeds] = {
        ("POST", "channels", "play"): _play_on,
        ("POST", "channels", "ring"): _begin_sound,
        ("POST", "channels", "moh"): _begin_sound,
        ("POST", "channels", "mute"): _mute,
        ("DELETE", "channels", "ring"): _end_sound,
        ("DELETE", "channels", "moh"): _end_sound,
        ("DELETE", "channels", "mute"): _unmute,
        ("GET", "playbacks", ""): _show_playback,
        ("DELETE", "playbacks", ""): _stop_playback,
    }
