"""Delays the first verb of a caller whose INVITE had no SDP until its media has an address.

Its ACK has the SDP. Asterisk reports Up when it sends the 200, and drops what is played before the
ACK, but no event says that it has come (docs/asterisk.md). The answer is that of the 200: a hold, a
key or an end before the ACK are those of an answered leg.
"""

from collections.abc import Callable

from engine.ari.generated.operations import channels
from engine.ari.request import Reply
from engine.calls.model.call_states import Starting
from engine.calls.model.events import Event, LegAnswered
from engine.runtime.base.clock import Clock
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.live_call import LiveCall

MEDIA_ADDRESS = "CHANNEL(rtp,dest)"  # where RTP is sent: 404 until Asterisk knows it
POLL_INTERVAL_MS = 50
MAX_WAIT_MS = 5_000  # then the call goes on without media, as after a lost ACK


class LateOffers:
    """The callers without SDP that have not been answered yet; `feed` hears of their ACKs."""

    def __init__(
        self, context: ShardContext, clock: Clock, feed: Callable[[LiveCall, Event], None]
    ) -> None:
        self._context = context
        self._clock = clock
        self._feed = feed
        self._expected = set[str]()

    def expect(self, leg: str) -> None:
        """Wait for the ACK of this leg when it is answered."""
        self._expected.add(leg)

    def mark(self, live_call: LiveCall, event: Event) -> Event:
        """Return an event; an answer for which a verb waits says that its ACK is awaited."""
        if not isinstance(event, LegAnswered) or event.leg not in self._expected:
            return event
        self._expected.discard(event.leg)
        if not isinstance(live_call.call.state, Starting):
            return event
        self._ask(live_call, event.leg, self._clock.now_ms() + MAX_WAIT_MS)
        return LegAnswered(event.leg, awaits_ack=True)

    def forget(self, live_call: LiveCall) -> None:
        """Expect no answer in a call that has ended."""
        self._expected.difference_update(live_call.foreign_channels)

    def _ask(self, live_call: LiveCall, leg: str, until_ms: int) -> None:
        def answered(reply: Reply) -> None:
            now_ms, call = self._clock.now_ms(), live_call.call
            if call.leg(leg) is None or not isinstance(call.state, Starting):
                return  # it has ended, or a recovery has let it go on
            if reply.ok or now_ms >= until_ms:
                self._feed(live_call, LegAnswered(leg))
            else:
                again_ms = now_ms + POLL_INTERVAL_MS
                self._clock.call_at(again_ms, lambda: self._ask(live_call, leg, until_ms))

        request = channels.get_channel_var(leg, variable=MEDIA_ADDRESS)
        self._context.pbx.send(request, live_call.call.id, False, answered)
