"""SimTalk: speech of phones, as TALK_DETECT reports it."""

from engine.ari.generated.events import ChannelTalkingFinished, ChannelTalkingStarted
from tests.harness.sim.model import SimChannel
from tests.harness.sim.referrals import SimReferrals

SILENCE_MS = 200  # as the engine sets it


class SimTalk(SimReferrals):
    def speaks(self, channel: SimChannel, length_ms: int) -> None:
        """Make a sound; its end is reported after the silence threshold."""
        if _is_listened_to(channel):
            self._emit(
                ChannelTalkingStarted(
                    application=channel.app,
                    timestamp=self._clock.timestamp(),
                    channel=channel.shape(),
                )
            )
            self._clock.after(length_ms + SILENCE_MS, self._fell_silent, self, channel, length_ms)

    def _fell_silent(self, channel: SimChannel, length_ms: int) -> None:
        if _is_listened_to(channel):
            self._emit(
                ChannelTalkingFinished(
                    application=channel.app,
                    timestamp=self._clock.timestamp(),
                    duration=length_ms,
                    channel=channel.shape(),
                )
            )


def _is_listened_to(channel: SimChannel) -> bool:
    variables = channel.variables
    is_enabled = "TALK_DETECT(set)" in variables and "TALK_DETECT(remove)" not in variables
    return is_enabled and channel.ended_ms is None
