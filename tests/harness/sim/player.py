"""SimPlayer: what is audible on a PBX's channels: queued prompts, music, ringing."""

from tests.harness.sim.channels import SimChannels
from tests.harness.sim.model import SimBridge, SimChannel, SimPlayback

SETTLED_MS = 100  # music must stop within this time after its leg joins a bridge
RESTART_MS = 20  # of a file's beginning, which Asterisk plays again when its playback continues


class SimPlayer(SimChannels):
    """Playbacks queue on their channel as on Asterisk; a prompt ends music for good."""

    def _play(
        self, channel: SimChannel, playback_id: str, media: list[str], offset_ms: int
    ) -> None:
        if channel.bridge is not None and len(channel.bridge.members) > 1:
            self.violations.append((channel.id, f"{playback_id} plays into the conversation"))
        lengths = [self._length_ms(each) for each in media]
        whole = None if None in lengths else max(0, sum(each or 0 for each in lengths) - offset_ms)
        playback = SimPlayback(playback_id, channel, whole, self._clock.at_ms)
        before = self.heard.get(playback_id)
        was_heard = before is not None and before.span is not None
        if before is not None and was_heard and not before.missing and not before.stopped:
            self.violations.append((channel.id, f"{playback_id} heard twice"))
        self.heard[playback_id] = self.playbacks[playback_id] = playback
        channel.playing.append(playback)
        if len(channel.playing) == 1:
            self._begin(playback)

    def _begin(self, playback: SimPlayback) -> None:
        channel, now = playback.channel, self._clock.at_ms
        for sound in ("ring", "moh"):
            channel.end(sound, now)
        playback.span = channel.begin("play", playback.id, now)
        self._run(playback, playback.length_ms)
        self._phones.hears(channel, playback)

    def _run(self, playback: SimPlayback, for_ms: float) -> None:
        playback.due_ms = self._clock.at_ms + for_ms
        playback.timer = self._clock.after(for_ms, self._ended, self, playback)

    def _pause(self, playback: SimPlayback) -> None:
        if playback.paused_ms is None and playback.timer is not None:
            playback.timer.cancel()
            playback.pause(self._clock.at_ms)

    def _unpause(self, playback: SimPlayback) -> None:
        if playback.paused_ms is not None:
            playback.unpause(self._clock.at_ms)
            self._run(playback, playback.left_ms + RESTART_MS)

    def _ended(self, playback: SimPlayback) -> None:
        self._finish(playback, is_failed=playback.missing)

    def _finish(self, playback: SimPlayback, *, is_failed: bool = False) -> None:
        channel, now = playback.channel, self._clock.at_ms
        if playback.timer is not None:
            playback.timer.cancel()
        channel.end("play", now)
        channel.playing.popleft()
        self._emit_finished(playback, is_failed=is_failed)
        while channel.playing and channel.playing[0].stopped:
            self._emit_finished(channel.playing.popleft(), is_failed=False)
        if channel.playing:
            self._begin(channel.playing[0])
        else:
            self._unblock(channel)

    def _stop(self, playback: SimPlayback) -> None:
        playback.stopped = True
        if playback.span is not None:
            self._finish(playback)

    def _look_for_music(self, channel: SimChannel) -> None:
        if channel.bridge is not None and channel.has_music:
            self._clock.after(SETTLED_MS, self._look, self, channel, channel.bridge)

    def _look(self, channel: SimChannel, bridge: SimBridge) -> None:
        if channel.bridge is bridge and len(bridge.members) > 1 and channel.has_music:
            self.violations.append((channel.id, "music in the conversation"))
