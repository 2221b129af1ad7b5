"""SimChannels: the channels of one PBX and the events that ARI emits for them.

By the rules measured on Asterisk 22.10 (docs/asterisk.md). Phones call the methods that are named
after what a phone does; what no caller should ever hear is collected in `violations`.
"""

from collections.abc import Callable
from typing import Protocol

from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelHold,
    ChannelStateChange,
    ChannelUnhold,
    PlaybackFinished,
    StasisEnd,
    StasisStart,
)
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.models import CallerID
from tests.harness.sim.clock import SimClock
from tests.harness.sim.manager import SimManager
from tests.harness.sim.model import LocalHalf, SimBridge, SimChannel, SimPlayback


class SimPhones(Protocol):
    """The parties at the other end of the channels."""

    def is_reachable(self, endpoint: str) -> bool:
        """Return whether an endpoint exists."""

    def called(self, channel: SimChannel) -> None:
        """React to an incoming call."""

    def up(self, channel: SimChannel) -> None:
        """React to an answered call."""

    def hears(self, channel: SimChannel, playback: SimPlayback) -> None:
        """React to the start of a prompt."""


MIN_GAP_MS = 80  # between equal keys of a person (engine.runtime.pbx_nodes.recent_digits)
CAUSES = {486: 17, 480: 19, 408: 18, 403: 21, 603: 21, 404: 1, 488: 58, 500: 38, 503: 34}


class SimChannels:
    """Channels and what was audible on them; `is_listened_to`: the app has a websocket."""

    def __init__(
        self,
        clock: SimClock,
        phones: SimPhones,
        emit: Callable[[AriEvent], None],
        length_ms: Callable[[str], int | None],
    ) -> None:
        self.channels: dict[str, SimChannel] = {}
        self.bridges: dict[str, SimBridge] = {}
        self.past_bridges: list[SimBridge] = []
        self.playbacks: dict[str, SimPlayback] = {}
        self.past: dict[str, SimChannel] = {}
        self.heard: dict[str, SimPlayback] = {}  # every playback that was ever requested
        self.violations: list[tuple[str, str]] = []  # channel, what
        self.called_again: list[str] = []  # channels
        self.is_listened_to = False
        self.manager = SimManager(clock)
        self._clock = clock
        self._phones = phones
        self._emit = emit
        self._length_ms = length_ms

    def is_heard(self, app: str) -> bool:
        """Return whether an app has a websocket; this PBX has only one app."""
        del app
        return self.is_listened_to

    # What phones do

    def arrives(self, channel_id: str, caller: str, number: str, app: str) -> SimChannel:
        """Add an inbound call; without a websocket the dialplan refuses it."""
        channel = self._channel(channel_id, "PJSIP/trunk", app)
        channel.is_inbound, channel.state = True, "Ring"
        channel.caller = CallerID(name="", number=caller)
        if self.is_heard(app):
            self._enter_stasis(channel, "inbound", number)
        else:
            self._end(channel, 34, 0)
        return channel

    def rings(self, channel: SimChannel) -> None:
        """Handle 180 Ringing."""
        if channel.ended_ms is None and channel.state == "Down":
            channel.state = "Ringing"
            self._emit_state_change(channel)

    def answers(self, channel: SimChannel) -> None:
        """Handle 200 OK of a called phone."""
        if channel.ended_ms is not None or channel.state == "Up":
            return
        self._up(channel)
        self._phones.up(channel)

    def refuses(self, channel: SimChannel, sip: int) -> None:
        """Handle a final response other than 200."""
        if channel.ended_ms is None and channel.state != "Up":
            self._end(channel, CAUSES[sip], sip)

    def hangs_up(self, channel: SimChannel) -> None:
        """Handle BYE, or CANCEL of an inbound call; the cause is then 0 (measured)."""
        if channel.ended_ms is None:
            self._end(channel, 0, 0)

    def starts_key(self, channel: SimChannel) -> None:
        """Press a key down, which `pressed` releases."""
        if channel.ended_ms is None and channel.state == "Up" and channel.in_stasis:
            self.manager.emit_started(channel.id)

    def pressed(self, channel: SimChannel, digit: str, held_ms: float) -> bool:
        """Release a key; return False when the channel is not answered in Stasis.

        A key that follows an equal one at once is a repeat of it, for Asterisk or for the engine.
        """
        if channel.ended_ms is not None or channel.state != "Up" or not channel.in_stasis:
            return False
        now = self._clock.at_ms
        before, _down_ms, up_ms = channel.presses[-1] if channel.presses else ("", 0.0, 0.0)
        if before == digit and now - held_ms - up_ms < MIN_GAP_MS:
            return False
        channel.presses.append((digit, now - held_ms, now))
        self.manager.emit(channel.id, digit, round(held_ms))
        self._emit(
            ChannelDtmfReceived(
                application=channel.app,
                timestamp=self._clock.timestamp(),
                digit=digit,
                duration_ms=round(held_ms),
                channel=channel.shape(),
            )
        )
        return True

    def holds(self, channel: SimChannel) -> None:
        """Handle a re-INVITE with sendonly: the phone puts its other party on hold."""
        if channel.ended_ms is None and channel.state == "Up" and "phone hold" not in channel.open:
            channel.begin("phone hold", "", self._clock.at_ms)
            if channel.in_stasis:
                shape = channel.shape()
                self._emit(
                    ChannelHold(
                        application=channel.app, timestamp=self._clock.timestamp(), channel=shape
                    )
                )

    def resumes(self, channel: SimChannel) -> None:
        """Handle a re-INVITE with sendrecv."""
        if "phone hold" in channel.open:
            channel.end("phone hold", self._clock.at_ms)
            shape = channel.shape()
            self._emit(
                ChannelUnhold(
                    application=channel.app, timestamp=self._clock.timestamp(), channel=shape
                )
            )

    def restart(self) -> None:
        """Lose all channels without an event."""
        for channel in list(self.channels.values()):
            self._remove_channel(channel, 0)

    # State changes and events

    def _channel(self, channel_id: str, endpoint: str, app: str) -> SimChannel:
        channel = SimChannel(channel_id, endpoint, app, self._clock.at_ms)
        self.channels[channel_id] = channel
        return channel

    def _up(self, channel: SimChannel) -> None:
        channel.state, channel.up_ms = "Up", self._clock.at_ms
        self._emit_state_change(channel)
        other = self._other_half(channel)
        if other is not None and other.state == "Down":
            self._up(other)

    def _dial_local(self, channel: SimChannel, local: LocalHalf) -> None:
        """Let the other half of a Local channel enter its app; without a websocket it fails."""
        app, *args = local.arguments.split(",")
        other = self._channel(local.other, "Local", app)
        other.is_inbound, other.state, other.local = True, "Ring", LocalHalf(channel.id)
        if self.is_heard(app):
            self._enter_stasis(other, *args)
        else:
            self._end(other, 42, 0)

    def _other_half(self, channel: SimChannel) -> SimChannel | None:
        return self.channels.get(channel.local.other) if channel.local else None

    def _end(self, channel: SimChannel, cause: int, sip: int) -> None:
        self._remove_channel(channel, cause)
        if channel.in_stasis:
            self._leave_stasis(channel)
        if not channel.is_inbound and channel.snooped is None:
            self._emit(
                ChannelDestroyed(
                    application=channel.app,
                    timestamp=self._clock.timestamp(),
                    cause=cause,
                    cause_txt="",
                    tech_cause=sip or None,
                    channel=channel.shape(),
                )
            )

        if (other := self._other_half(channel)) is not None:
            self._end(other, cause, 0)

    def _remove_channel(self, channel: SimChannel, cause: int) -> None:
        now = self._clock.at_ms
        channel.ended_ms, channel.cause = now, cause
        del self.channels[channel.id]
        self.past[channel.id] = channel
        self._leave(channel)
        for playback in channel.playing:
            if playback.timer is not None:
                playback.timer.cancel()
            self._emit_finished(playback, is_failed=True)
        channel.playing.clear()
        for kind in list(channel.open):
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

    def _emit_state_change(self, channel: SimChannel) -> None:
        self._emit(
            ChannelStateChange(
                application=channel.app, timestamp=self._clock.timestamp(), channel=channel.shape()
            )
        )

    def _leave_stasis(self, channel: SimChannel) -> None:
        self._emit(
            StasisEnd(
                application=channel.app,
                timestamp=self._clock.timestamp(),
                channel=channel.shape(),
            )
        )

    def _enter_stasis(self, channel: SimChannel, *args: str) -> None:
        channel.enter(*args)
        self._emit(
            StasisStart(
                application=channel.app,
                timestamp=self._clock.timestamp(),
                args=list(args),
                channel=channel.shape(),
            )
        )

    def _emit_finished(self, playback: SimPlayback, *, is_failed: bool) -> None:
        playback.end(self._clock.at_ms)
        if self.playbacks.get(playback.id) is playback:
            del self.playbacks[playback.id]
        shape = playback.shape("failed" if is_failed else "done")
        self._emit(
            PlaybackFinished(
                application=playback.channel.app, timestamp=self._clock.timestamp(), playback=shape
            )
        )
