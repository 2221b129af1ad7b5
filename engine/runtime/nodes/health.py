"""How a node is, by what its manager interface tells; without one, nothing is known against it."""

from engine.runtime.base.clock import Clock

SHUTDOWN_TTL_MS = (
    60_000  # a node that said so and is still there after this has thought better of it
)
WEIGHT = 0.1  # of the newest report: about the last ten count
REPORT_TTL_MS = 60_000  # reports come every few seconds from each leg: none since means no calls


class RtpQuality:
    """A level that follows what legs report of how they hear the other side."""

    def __init__(self, loss: float = 0.0, jitter_ms: float = 0.0) -> None:
        self.loss = loss  # of packets, 0 to 1
        self.jitter_ms = jitter_ms

    def add(self, loss: float, jitter_ms: float) -> None:
        """Take one leg's report in."""
        self.loss += WEIGHT * (loss - self.loss)
        self.jitter_ms += WEIGHT * (jitter_ms - self.jitter_ms)


class NodeHealth:
    """What is known of one node."""

    def __init__(self, clock: Clock, trunk: str = "trunk") -> None:
        self._clock = clock
        self._trunk = trunk
        self._left_ms: int | None = None
        self._contacts: dict[str, bool] = {}
        self._unregistered: set[str] = set()
        self._quality = RtpQuality()
        self._reported_ms = 0
        self.is_watched = False
        self.reported_calls: int | None = None  # as the node itself counts them

    @property
    def is_shutting_down(self) -> bool:
        """Whether it said that it shuts down."""
        return self._left_ms is not None and self._clock.now_ms() - self._left_ms < SHUTDOWN_TTL_MS

    @property
    def is_trunk_unreachable(self) -> bool:
        """Whether no contact of the trunk answers; those that nobody asks count as answering."""
        return bool(self._contacts) and not any(self._contacts.values())

    @property
    def unregistered(self) -> tuple[str, ...]:
        """As whom it was refused where it registers: calls to that do not reach it."""
        return tuple(sorted(self._unregistered))

    @property
    def quality(self) -> RtpQuality:
        """How its calls sound of late."""
        if self._clock.now_ms() - self._reported_ms > REPORT_TTL_MS:
            return RtpQuality()
        return self._quality

    def on_booted(self) -> None:
        """Hear that it is usable."""
        self._left_ms = None
        self.is_watched = True

    def on_shutdown(self) -> None:
        """Hear that it shuts down."""
        self._left_ms = self._clock.now_ms()

    def on_unwatched(self) -> None:
        """Hear that nothing is heard of it any more: what was known is old."""
        self.is_watched = False
        self.reported_calls = None
        self._contacts = {}
        self._unregistered = set()

    def on_call_count(self, calls: int) -> None:
        """Hear how many calls the node itself counts."""
        self.reported_calls = calls

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Hear how an endpoint's contact is; None: it is gone."""
        if endpoint.casefold() != self._trunk.casefold():
            return
        if is_reachable is None:
            self._contacts.pop(uri, None)
        else:
            self._contacts[uri] = is_reachable

    def on_registration(self, who: str, is_so: bool) -> None:
        """Hear whether it is registered somewhere, as at a carrier."""
        if is_so:
            self._unregistered.discard(who)
        else:
            self._unregistered.add(who)

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Hear how a leg hears: the part of packets that it lost, and their jitter."""
        if self.quality is self._quality:
            self._quality.add(loss, jitter_ms)
        else:
            self._quality = RtpQuality(loss, jitter_ms)
        self._reported_ms = self._clock.now_ms()
