"""SimAsterisk: one PBX as ARI shows it, by the rules measured on Asterisk 22.10 (docs/asterisk.md).

Requests come by `handle`; events leave by `tell`. Phones act on it by the methods named after
what happens on the line. What no caller should have to hear is kept in `wrong`.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelStateChange,
    PlaybackFinished,
    StasisEnd,
    StasisStart,
)
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.models import CallerID
from engine.ari.request import Reply, Request
from tests.harness.sim_channel import SimBridge, SimChannel, SimPlayback
from tests.harness.sim_clock import SimClock

Answered = Callable[[Reply], None]
BUSY_MS = 100  # within this, music must have stopped after its leg came into a bridge
CAUSES = {486: 17, 480: 19, 408: 18, 403: 21, 603: 21, 404: 1, 488: 58, 500: 38, 503: 34}
OK, NO_CONTENT, CREATED = Reply(200, b"{}"), Reply(204), Reply(201, b"{}")
NOT_FOUND = Reply(404, b'{"message":"Channel not found"}')
GONE = Reply(400, b'{"message":"Channel not found"}')
KNOWN = Reply(409, b'{"message":"Channel with given unique ID already exists"}')
REFUSED = Reply(500, b'{"error":"Allocation failed"}')


class SimPhones(Protocol):
    """Who is at the other end of the channels."""

    def is_reachable(self, endpoint: str) -> bool:
        """Tell whether an endpoint exists."""

    def called(self, channel: SimChannel) -> None:
        """Be called."""

    def up(self, channel: SimChannel) -> None:
        """Be connected."""

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """Hear a prompt begin."""


class SimAsterisk:
    """Channels, bridges and playbacks of one PBX; `apps_heard` are those with a websocket."""

    def __init__(
        self,
        clock: SimClock,
        phones: SimPhones,
        tell: Callable[[AriEvent], None],
        length_ms: Callable[[str], int | None],
    ) -> None:
        self.channels: dict[str, SimChannel] = {}
        self.bridges: dict[str, SimBridge] = {}
        self.playbacks: dict[str, SimPlayback] = {}
        self.past: dict[str, SimChannel] = {}
        self.heard: dict[str, SimPlayback] = {}  # every playback that was ever asked for
        self.wrong: list[tuple[str, str]] = []  # channel, what
        self.called_again: list[tuple[str, float]] = []  # channel, when
        self.is_listened_to = False
        self._clock = clock
        self._phones = phones
        self._tell = tell
        self._length_ms = length_ms

    # What happens on the lines

    def arrives(self, channel_id: str, caller: str, number: str, app: str) -> SimChannel:
        """Let a call come in; without anybody listening the dialplan refuses it."""
        channel = self._channel(channel_id, "PJSIP/trunk", app)
        channel.is_inbound, channel.state = True, "Ring"
        channel.caller = CallerID(name="", number=caller)
        if self.is_listened_to:
            channel.enter("inbound", number)
            self._send(StasisStart(application=app, timestamp="", args=["inbound", number],
                                   channel=channel.shape()))  # fmt: skip
        else:
            self._end(channel, 34, 0)
        return channel

    def rings(self, channel: SimChannel) -> None:
        """180 Ringing."""
        if channel.ended_ms is None and channel.state == "Down":
            channel.state = "Ringing"
            self._changed(channel)

    def answers(self, channel: SimChannel) -> None:
        """200 OK of a phone that we called."""
        if channel.ended_ms is not None or channel.state == "Up":
            return
        self._up(channel)
        if not self.is_listened_to:  # Stasis() fails while the app has no websocket
            self._end(channel, 16, 0)
            return
        channel.enter("called")
        self._send(StasisStart(application=channel.app, timestamp="", args=["called"],
                               channel=channel.shape()))  # fmt: skip
        self._phones.up(channel)

    def refuses(self, channel: SimChannel, sip: int) -> None:
        """Any final answer but 200."""
        if channel.ended_ms is None and channel.state != "Up":
            self._end(channel, CAUSES[sip], sip)

    def hangs_up(self, channel: SimChannel) -> None:
        """BYE, or CANCEL of one that came in; the cause is then 0 (measured)."""
        if channel.ended_ms is None:
            self._end(channel, 0, 0)

    def pressed(self, channel: SimChannel, digit: str, held_ms: float) -> bool:
        """Let go of a key; False when nobody is on the line."""
        if channel.ended_ms is not None or channel.state != "Up" or not channel.in_stasis:
            return False
        now = self._clock.at_ms
        channel.presses.append((digit, now - held_ms, now))
        self._send(ChannelDtmfReceived(application=channel.app, timestamp="", digit=digit,
                                       duration_ms=round(held_ms), channel=channel.shape()))  # fmt: skip
        return True

    def restarts(self) -> None:
        """Lose everything, without a word."""
        for channel in list(self.channels.values()):
            self._gone(channel, 0)
        self.bridges.clear()

    # What is asked by ARI

    def handle(self, request: Request, reply: Answered) -> None:
        """Do a request; `reply` is called now, or, where Asterisk would block, later."""
        match request.method, *request.path.split("/"):
            case "POST", "channels", channel, "answer":
                self._on_channel(channel, reply, self._answer)
            case "POST", "channels", channel, "play", playback:
                reply(self._play(channel, playback, dict(request.query)))
            case ("POST" | "DELETE") as method, "channels", channel, ("ring" | "moh") as sound:
                reply(self._sound(channel, sound, method == "POST"))
            case "POST", "channels", channel:
                reply(self._originate(channel, dict(request.query)))
            case "DELETE", "channels", channel:
                reply(self._hangup(channel, int(dict(request.query).get("reason_code", "16"))))
            case "POST", "bridges", bridge, "addChannel":
                self._join(bridge, dict(request.query)["channel"].split(","), reply)
            case "POST", "bridges", bridge:
                reply(self._create(bridge))
            case "DELETE", "bridges", bridge:
                reply(self._destroy(bridge))
            case "DELETE", "playbacks", playback:
                reply(self._stop(playback))
            case "GET", "playbacks", playback:
                reply(OK if playback in self.playbacks else NOT_FOUND)
            case "GET", "channels":
                reply(Reply(200, msgspec.json.encode([e.shape() for e in self.channels.values()])))
            case "GET", "bridges":
                reply(Reply(200, msgspec.json.encode([e.shape() for e in self.bridges.values()])))
            case _:
                raise NotImplementedError(request.uri)

    def _on_channel(
        self, channel_id: str, reply: Answered, do: Callable[[SimChannel], Reply]
    ) -> None:
        channel = self.channels.get(channel_id)
        if channel is None:
            reply(NOT_FOUND)
        elif channel.playing:
            self.wrong.append((channel_id, "the lane of other calls blocked behind a playback"))
            channel.blocked.append(lambda: reply(do(channel)))
        else:
            reply(do(channel))

    def _answer(self, channel: SimChannel) -> Reply:
        if channel.ended_ms is not None:
            return NOT_FOUND
        if channel.state != "Up":
            self._up(channel)
            self._phones.up(channel)
        return NO_CONTENT

    def _originate(self, channel_id: str, query: dict[str, str]) -> Reply:
        if channel_id in self.channels:
            return KNOWN
        if channel_id in self.past:
            self.called_again.append((channel_id, self._clock.at_ms))
        if not self._phones.is_reachable(query["endpoint"]):
            return REFUSED
        channel = self._channel(channel_id, query["endpoint"], query["app"])
        timeout_ms = int(query["timeout"]) * 1000
        self._clock.after(timeout_ms, lambda: self.refuses(channel, 480), self)
        self._phones.called(channel)
        return OK

    def _hangup(self, channel_id: str, cause: int) -> Reply:
        channel = self.channels.get(channel_id)
        if channel is None:
            return NOT_FOUND
        is_answered = channel.state == "Up"
        self._end(channel, cause if is_answered else 16, 0)
        return NO_CONTENT

    def _sound(self, channel_id: str, sound: str, begins: bool) -> Reply:
        channel = self.channels.get(channel_id)
        if channel is None:
            return NOT_FOUND
        now = self._clock.at_ms
        if begins:
            channel.begin(sound, sound, now)
            self._look_for_music(channel)
        else:
            channel.end(sound, now)
        return NO_CONTENT

    def _look_for_music(self, channel: SimChannel) -> None:
        if channel.bridge is not None and ("ring" in channel.open or "moh" in channel.open):
            bridge = channel.bridge

            def look() -> None:
                is_there = channel.bridge is bridge and len(bridge.members) > 1
                if is_there and ("ring" in channel.open or "moh" in channel.open):
                    self.wrong.append((channel.id, "music in the conversation"))

            self._clock.after(BUSY_MS, look, self)

    def _play(self, channel_id: str, playback_id: str, query: dict[str, str]) -> Reply:
        channel = self.channels.get(channel_id)
        if channel is None:
            return NOT_FOUND
        if channel.bridge is not None:
            self.wrong.append((channel_id, f"{playback_id} plays into the conversation"))
        lengths = [self._length_ms(media) for media in query["media"].split(",")]
        whole = None if None in lengths else sum(each or 0 for each in lengths)
        playback = SimPlayback(playback_id, channel, whole, self._clock.at_ms)
        before = self.heard.get(playback_id)
        if before is not None and before.span is not None and not before.missing:
            self.wrong.append((channel_id, f"{playback_id} heard twice"))
        self.heard[playback_id] = self.playbacks[playback_id] = playback
        channel.playing.append(playback)
        if len(channel.playing) == 1:
            self._begin(playback)
        return CREATED

    def _begin(self, playback: SimPlayback) -> None:
        channel, now = playback.channel, self._clock.at_ms
        for sound in ("ring", "moh"):  # a prompt ends them for good
            channel.end(sound, now)
        playback.span = channel.begin("play", playback.id, now)
        playback.timer = self._clock.after(
            playback.length_ms, lambda: self._finish(playback, is_failed=playback.missing), self
        )
        self._phones.hears(channel, playback)

    def _finish(self, playback: SimPlayback, *, is_failed: bool = False) -> None:
        channel, now = playback.channel, self._clock.at_ms
        if playback.timer is not None:
            playback.timer.cancel()
        channel.end("play", now)
        channel.playing.popleft()
        self._told_finished(playback, is_failed=is_failed)
        while channel.playing and channel.playing[0].stopped:
            self._told_finished(channel.playing.popleft(), is_failed=False)
        if channel.playing:
            self._begin(channel.playing[0])
        else:
            self._unblock(channel)

    def _told_finished(self, playback: SimPlayback, *, is_failed: bool) -> None:
        playback.ended_ms = self._clock.at_ms
        if self.playbacks.get(playback.id) is playback:
            del self.playbacks[playback.id]
        shape = playback.shape("failed" if is_failed else "done")
        self._send(PlaybackFinished(application=playback.channel.app, timestamp="", playback=shape))

    def _stop(self, playback_id: str) -> Reply:
        playback = self.playbacks.get(playback_id)
        if playback is None or playback.stopped:
            return NOT_FOUND
        playback.stopped = True
        if playback.span is not None:
            self._finish(playback)
        return NO_CONTENT

    def _create(self, bridge_id: str) -> Reply:
        if bridge_id in self.bridges:
            return KNOWN
        self.bridges[bridge_id] = SimBridge(bridge_id)
        return OK

    def _destroy(self, bridge_id: str) -> Reply:
        bridge = self.bridges.pop(bridge_id, None)
        if bridge is None:
            return NOT_FOUND
        for channel in list(bridge.members):
            self._leave(channel)
        return NO_CONTENT

    def _join(self, bridge_id: str, channel_ids: list[str], reply: Answered) -> None:
        bridge = self.bridges.get(bridge_id)
        if bridge is None:
            reply(NOT_FOUND)
            return
        channels = [self.channels.get(each) for each in channel_ids]
        if any(each is None or not each.in_stasis for each in channels):
            reply(GONE)
            return
        for channel in channels:
            if channel is not None and channel.playing:
                channel.blocked.append(lambda: self._join(bridge_id, channel_ids, reply))
                return
        for channel in channels:
            if channel is not None and channel.bridge is not bridge:
                self._leave(channel)
                channel.bridge = bridge
                bridge.members.append(channel)
                channel.begin("bridge", bridge_id, self._clock.at_ms)
                self._look_for_music(channel)
        reply(NO_CONTENT)

    # What follows from both

    def _channel(self, channel_id: str, endpoint: str, app: str) -> SimChannel:
        channel = SimChannel(channel_id, endpoint, app, self._clock.at_ms)
        self.channels[channel_id] = channel
        return channel

    def _up(self, channel: SimChannel) -> None:
        channel.state, channel.up_ms = "Up", self._clock.at_ms
        self._changed(channel)

    def _end(self, channel: SimChannel, cause: int, sip: int) -> None:
        self._gone(channel, cause)
        if channel.in_stasis:
            self._send(StasisEnd(application=channel.app, timestamp="", channel=channel.shape()))
        if not channel.is_inbound:
            self._send(
                ChannelDestroyed(application=channel.app, timestamp="", cause=cause, cause_txt="",
                                 tech_cause=sip or None, channel=channel.shape())
            )  # fmt: skip

    def _gone(self, channel: SimChannel, cause: int) -> None:
        now = self._clock.at_ms
        channel.ended_ms, channel.cause = now, cause
        del self.channels[channel.id]
        self.past[channel.id] = channel
        self._leave(channel)
        for playback in channel.playing:
            if playback.timer is not None:
                playback.timer.cancel()
            self._told_finished(playback, is_failed=True)
        channel.playing.clear()
        for kind in ("play", "ring", "moh"):
            channel.end(kind, now)
        self._unblock(channel)

    def _leave(self, channel: SimChannel) -> None:
        if channel.bridge is not None:
            channel.bridge.members.remove(channel)
            channel.bridge = None
            channel.end("bridge", self._clock.at_ms)

    def _unblock(self, channel: SimChannel) -> None:
        blocked, channel.blocked = channel.blocked, []
        for again in blocked:
            again()

    def _changed(self, channel: SimChannel) -> None:
        self._send(
            ChannelStateChange(application=channel.app, timestamp="", channel=channel.shape())
        )

    def _send(self, event: AriEvent) -> None:
        self._tell(event)
