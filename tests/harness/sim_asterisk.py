"""SimAsterisk: one PBX as ARI shows it, by the rules measured on Asterisk 22.10 (docs/asterisk.md).

Requests come by `handle`, events leave by `tell`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from engine.ari.request import Reply, Request
from tests.harness.sim_channel import SimBridge, SimChannel
from tests.harness.sim_player import SimPlayer

Answered = Callable[[Reply], None]
OK, NO_CONTENT, CREATED = Reply(200, b"{}"), Reply(204), Reply(201, b"{}")
NOT_FOUND = Reply(404, b'{"message":"Channel not found"}')
GONE = Reply(400, b'{"message":"Channel not found"}')
KNOWN = Reply(409, b'{"message":"Channel with given unique ID already exists"}')
REFUSED = Reply(500, b'{"error":"Allocation failed"}')


class _Asked(Struct, frozen=True):
    """`{kind}/{target}/{deed}/{more}?{query}`; `reply` may wait where Asterisk blocks."""

    target: str
    deed: str
    more: str
    query: dict[str, str]
    reply: Answered


_Deed = Callable[[Any, _Asked], Reply | None]  # None: it is answered later


class SimAsterisk(SimPlayer):
    """All that the engine asks of a PBX."""

    def handle(self, request: Request, reply: Answered) -> None:
        """Do a request; `reply` is called now, or, where Asterisk would block, later."""
        kind, target, deed, more, *_ = (*request.path.split("/"), "", "", "")
        asked = _Asked(target, deed, more, dict(request.query), reply)
        answer = self._DEEDS[request.method, kind, deed](self, asked)
        if answer is not None:
            reply(answer)

    # Channels

    def _list_channels(self, _asked: _Asked) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.channels.values()]))

    def _make(self, asked: _Asked) -> Reply:
        channel_id = asked.query["channelId"]
        if channel_id in self.channels:
            return KNOWN
        if not self._phones.is_reachable(asked.query["endpoint"]):
            return REFUSED
        channel = self._channel(channel_id, asked.query["endpoint"], asked.query["app"])
        if self.is_listened_to:
            self._entered(channel, "called")
        else:
            self._end(channel, 0, 0)  # Stasis() fails
        return OK

    def _mark(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.marks.add(asked.query["variable"])
        return NO_CONTENT

    def _show_mark(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        return OK if channel and asked.query["variable"] in channel.marks else NOT_FOUND

    def _dial(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        if channel.state != "Down":
            return KNOWN
        if channel.is_dialled:
            self.wrong.append((channel.id, "called twice, which ends it"))
            self._end(channel, 16, 0)
            return NO_CONTENT
        if channel.id in self.past and self.past[channel.id].is_dialled:
            self.called_again.append(channel.id)
        channel.is_dialled = True
        timeout_ms = int(asked.query["timeout"]) * 1000
        self._clock.after(timeout_ms, self.refuses, self, channel, 480)
        self._phones.called(channel)
        return NO_CONTENT

    def _answer(self, asked: _Asked) -> Reply | None:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        if channel.playing:
            self.wrong.append((channel.id, "the lane of other calls blocked behind a playback"))
            channel.blocked.append(lambda: asked.reply(self._answer(asked) or NOT_FOUND))
            return None
        if channel.state != "Up":
            self._up(channel)
            self._phones.up(channel)
        return NO_CONTENT

    def _hang_up(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        cause = int(asked.query.get("reason_code", "16"))
        self._end(channel, cause if channel.state == "Up" else 16, 0)
        return NO_CONTENT

    def _begin_sound(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.begin(asked.deed, asked.deed, self._clock.at_ms)
        self._look_for_music(channel)
        return NO_CONTENT

    def _end_sound(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        channel.end(asked.deed, self._clock.at_ms)
        return NO_CONTENT

    # Playbacks

    def _play_on(self, asked: _Asked) -> Reply:
        channel = self.channels.get(asked.target)
        if channel is None:
            return NOT_FOUND
        self._play(channel, asked.more, asked.query["media"].split(","))
        return CREATED

    def _show_playback(self, asked: _Asked) -> Reply:
        return OK if asked.target in self.playbacks else NOT_FOUND

    def _stop_playback(self, asked: _Asked) -> Reply:
        playback = self.playbacks.get(asked.target)
        if playback is None or playback.stopped:
            return NOT_FOUND
        self._stop(playback)
        return NO_CONTENT

    # Bridges

    def _list_bridges(self, _asked: _Asked) -> Reply:
        return Reply(200, msgspec.json.encode([each.shape() for each in self.bridges.values()]))

    def _create(self, asked: _Asked) -> Reply:
        if asked.target in self.bridges:
            return KNOWN
        self.bridges[asked.target] = SimBridge(asked.target)
        return OK

    def _destroy(self, asked: _Asked) -> Reply:
        bridge = self.bridges.pop(asked.target, None)
        if bridge is None:
            return NOT_FOUND
        for channel in list(bridge.members):
            self._leave(channel)
        return NO_CONTENT

    def _add(self, asked: _Asked) -> Reply | None:
        bridge = self.bridges.get(asked.target)
        if bridge is None:
            return NOT_FOUND
        found = (self.channels.get(each) for each in asked.query["channel"].split(","))
        channels = [each for each in found if each is not None and each.in_stasis]
        if len(channels) < len(asked.query["channel"].split(",")):
            return GONE
        for channel in channels:
            if channel.playing:
                channel.blocked.append(lambda: self._add_later(asked))
                return None
        for channel in channels:
            self._join(channel, bridge)
        return NO_CONTENT

    def _add_later(self, asked: _Asked) -> None:
        answer = self._add(asked)
        if answer is not None:
            asked.reply(answer)

    def _join(self, channel: SimChannel, bridge: SimBridge) -> None:
        if channel.bridge is not bridge:
            self._leave(channel)
            channel.bridge = bridge
            bridge.members.append(channel)
            channel.begin("bridge", bridge.id, self._clock.at_ms)
            self._look_for_music(channel)

    _DEEDS: ClassVar[dict[tuple[str, str, str], _Deed]] = {
        ("GET", "channels", ""): _list_channels,
        ("POST", "channels", ""): _make,
        ("POST", "channels", "dial"): _dial,
        ("POST", "channels", "variable"): _mark,
        ("GET", "channels", "variable"): _show_mark,
        ("DELETE", "channels", ""): _hang_up,
        ("POST", "channels", "answer"): _answer,
        ("POST", "channels", "play"): _play_on,
        ("POST", "channels", "ring"): _begin_sound,
        ("POST", "channels", "moh"): _begin_sound,
        ("DELETE", "channels", "ring"): _end_sound,
        ("DELETE", "channels", "moh"): _end_sound,
        ("GET", "playbacks", ""): _show_playback,
        ("DELETE", "playbacks", ""): _stop_playback,
        ("GET", "bridges", ""): _list_bridges,
        ("POST", "bridges", ""): _create,
        ("POST", "bridges", "addChannel"): _add,
        ("DELETE", "bridges", ""): _destroy,
    }
