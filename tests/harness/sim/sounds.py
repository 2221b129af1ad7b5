"""SimSounds: ARI requests about sounds: prompts, music, ringing and mutes."""

from typing import ClassVar

from engine.ari.request import Reply
from tests.harness.sim.ari_request import (
    CREATED,
    NO_CONTENT,
    NOT_FOUND,
    NOT_PLAYING,
    OK,
    AriRequest,
    Handlers,
)
from tests.harness.sim.player import SimPlayer

MUTES = {"in": ("mute in",), "out": ("mute out",), "both": ("mute in", "mute out")}


class SimSounds(SimPlayer):
    def _begin_sound(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        if channel.is_inbound and channel.state != "Up":
            return NO_CONTENT  # a 180: the caller's own network makes the sound
        channel.begin(request.action, request.action, self._clock.at_ms)
        self._look_for_music(channel)
        return NO_CONTENT

    def _end_sound(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        channel.end(request.action, self._clock.at_ms)
        return NO_CONTENT

    def _mute(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        for kind in MUTES[request.query["direction"]]:
            channel.begin(kind, channel.id, self._clock.at_ms)
        return NO_CONTENT

    def _unmute(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        for kind in MUTES[request.query["direction"]]:
            channel.end(kind, self._clock.at_ms)
        return NO_CONTENT

    def _play_on(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        offset_ms = int(request.query.get("offsetms", "0"))
        self._play(channel, request.more, request.query["media"].split(","), offset_ms)
        return CREATED

    def _show_playback(self, request: AriRequest) -> Reply:
        return OK if request.target in self.playbacks else NOT_FOUND

    def _stop_playback(self, request: AriRequest) -> Reply:
        playback = self.playbacks.get(request.target)
        if playback is None or playback.stopped:
            return NOT_FOUND
        self._stop(playback)
        return NO_CONTENT

    def _control_playback(self, request: AriRequest) -> Reply:
        playback = self.playbacks.get(request.target)
        if playback is None or playback.stopped:
            return NOT_FOUND
        if playback.span is None:
            return NOT_PLAYING
        change = {"pause": self._pause, "unpause": self._unpause}[request.query["operation"]]
        change(playback)
        return NO_CONTENT

    HANDLERS: ClassVar[Handlers] = {
        ("POST", "channels", "play"): _play_on,
        ("POST", "channels", "ring"): _begin_sound,
        ("POST", "channels", "moh"): _begin_sound,
        ("POST", "channels", "mute"): _mute,
        ("DELETE", "channels", "ring"): _end_sound,
        ("DELETE", "channels", "moh"): _end_sound,
        ("DELETE", "channels", "mute"): _unmute,
        ("GET", "playbacks", ""): _show_playback,
        ("DELETE", "playbacks", ""): _stop_playback,
        ("POST", "playbacks", "control"): _control_playback,
    }
