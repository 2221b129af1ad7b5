"""SimReferrals: phones that request a transfer by REFER, and the NOTIFYs they receive."""

import random
from typing import ClassVar

from engine.ari.generated.events import ChannelTransfer
from engine.ari.generated.models import Channel, ReferredBy, ReferTo, RequiredDestination
from engine.ari.request import Reply
from tests.harness.sim.ari_request import NO_CONTENT, NOT_FOUND, AriRequest, Handlers
from tests.harness.sim.bridges import SimBridges
from tests.harness.sim.model import SimChannel

LETS_GO_MS = 300  # phones hang up after a successful NOTIFY


class SimReferrals(SimBridges):
    """REFER, as `PJSIP_TRANSFER_HANDLING()=ari-only` leaves it to the app."""

    def refers(self, channel: SimChannel, number: str, *, replaces: bool) -> None:
        """Send REFER: the phone waits for a NOTIFY (refer), and for the outcome (transfer)."""
        if channel.ended_ms is None and channel.state == "Up" and "transfer" not in channel.open:
            channel.begin("refer", number, self._clock.at_ms)
            channel.begin("transfer", number, self._clock.at_ms)
            call_id = "another-call" if replaces else None
            wanted = RequiredDestination(destination=number, protocol_id=call_id)
            self._emit_referral(
                channel, wanted, None, self._choose_replaced() if replaces else None
            )

    def _choose_replaced(self) -> Channel | None:
        """Choose the phone's leg in another call; rarely it is one of another PBX."""
        rng = random.Random(f"replaces {self._clock.at_ms}")
        up = [each for each in self.channels.values() if each.state == "Up" and each.in_stasis]
        phones = [each for each in up if each.snooped is None and each.local is None]
        talking = [each for each in phones if each.bridge is not None]
        among = talking if talking and rng.random() < 0.8 else phones
        return rng.choice(among).shape() if among and rng.random() < 0.9 else None

    def _progress(self, request: AriRequest) -> Reply:
        channel = self.channels.get(request.target)
        if channel is None:
            return NOT_FOUND
        state = request.query["states"]
        if span := channel.open.get("transfer"):
            self._emit_referral(channel, RequiredDestination(destination=span.what), state)
            channel.end("refer", self._clock.at_ms)
            if state != "channel_progress":
                channel.end("transfer", self._clock.at_ms)
            if state == "channel_answered":
                self._clock.after(LETS_GO_MS, self.hangs_up, self, channel)
        return NO_CONTENT

    def _emit_referral(
        self,
        channel: SimChannel,
        wanted: RequiredDestination,
        state: str | None,
        replaced: Channel | None = None,
    ) -> None:
        self._emit(
            ChannelTransfer(
                application=channel.app,
                timestamp=self._clock.timestamp(),
                state=state,
                refer_to=ReferTo(requested_destination=wanted, destination_channel=replaced),
                referred_by=ReferredBy(source_channel=channel.shape()),
            )
        )

    HANDLERS: ClassVar[Handlers] = {
        **SimBridges.HANDLERS,
        ("POST", "channels", "transfer_progress"): _progress,
    }
