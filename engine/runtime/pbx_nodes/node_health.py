"""The health of a node as AMI reports it; without AMI a node counts as healthy."""

from collections import defaultdict
from collections.abc import Callable, MutableMapping, Sequence

from engine.runtime.agents.phone_logins import OnLogin, ignore_login
from engine.runtime.base.clock import Clock
from engine.runtime.base.node_report import NodeReport

SHUTDOWN_TTL_MS = 60_000  # a node that still runs after this has cancelled its shutdown
WEIGHT = 0.1  # of the newest report: the average covers about ten
REPORT_TTL_MS = 60_000  # each leg reports every few seconds: silence means that there are no calls

RecordRtp = Callable[[float, float], None]  # a leg's share of lost packets, and jitter in ms


def record_nothing(_loss: float, _jitter_ms: float) -> None:
    """Do nothing with a report."""


class RtpQuality:
    """Moving averages of the packet loss and jitter that legs report."""

    def __init__(self, loss: float = 0.0, jitter_ms: float = 0.0) -> None:
        self.loss = loss  # fraction of packets, 0 to 1
        self.jitter_ms = jitter_ms

    def add(self, loss: float, jitter_ms: float) -> None:
        self.loss += WEIGHT * (loss - self.loss)
        self.jitter_ms += WEIGHT * (jitter_ms - self.jitter_ms)


class NodeHealth:
    """The reported health of one node; implements `HealthListener`."""

    def __init__(
        self,
        clock: Clock,
        trunks: Sequence[str] = ("trunk",),
        on_login: OnLogin = ignore_login,
        failed_logins: MutableMapping[str, int] | None = None,
        record_rtp: RecordRtp = record_nothing,
    ) -> None:
        self._clock = clock
        self._failed_logins = defaultdict[str, int](int) if failed_logins is None else failed_logins
        self._on_login = on_login
        self._record_rtp = record_rtp
        self._trunks = {each.casefold() for each in trunks}
        self._shutdown_ms: int | None = None
        self._contacts: dict[str, bool] = {}
        self._unregistered: set[str] = set()
        self._quality = RtpQuality()
        self._reported_ms = 0
        self.is_watched = False
        self.reported_calls: int | None = None  # as the node counts them

    @property
    def is_shutting_down(self) -> bool:
        return (
            self._shutdown_ms is not None
            and self._clock.now_ms() - self._shutdown_ms < SHUTDOWN_TTL_MS
        )

    @property
    def is_trunk_unreachable(self) -> bool:
        """Whether no contact of any trunk answers; contacts without qualify count as reachable."""
        return bool(self._contacts) and not any(self._contacts.values())

    @property
    def unregistered(self) -> tuple[str, ...]:
        """The registrations that were rejected: calls to them do not reach the node."""
        return tuple(sorted(self._unregistered))

    @property
    def quality(self) -> RtpQuality:
        """The recent RTP quality of the node's calls."""
        if self._clock.now_ms() - self._reported_ms > REPORT_TTL_MS:
            return RtpQuality()
        return self._quality

    @property
    def has_report(self) -> bool:
        """Whether this engine knows more of the node than that it has no connection to its AMI."""
        return self.is_watched or self.is_shutting_down

    def report(self) -> NodeReport:
        quality = self.quality
        return NodeReport(
            self.is_watched,
            self.is_shutting_down,
            self.is_trunk_unreachable,
            self.unregistered,
            self.reported_calls,
            round(quality.loss, 4),
            round(quality.jitter_ms, 1),
        )

    def on_booted(self) -> None:
        self._shutdown_ms = None
        self.is_watched = True

    def on_shutdown(self) -> None:
        self._shutdown_ms = self._clock.now_ms()

    def on_unwatched(self) -> None:
        """Forget what AMI no longer reports, as its connection is lost."""
        self.is_watched = False
        self.reported_calls = None
        self._contacts = {}
        self._unregistered = set()

    def on_call_count(self, calls: int) -> None:
        self.reported_calls = calls

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        if endpoint.casefold() not in self._trunks:
            return
        if is_reachable is None:
            self._contacts.pop(uri, None)
        else:
            self._contacts[uri] = is_reachable

    def on_login(self, endpoint: str) -> None:
        self._on_login(endpoint)

    def on_failed_login(self, service: str) -> None:
        self._failed_logins[service] += 1

    def on_registration(self, client: str, is_registered: bool) -> None:
        if is_registered:
            self._unregistered.discard(client)
        else:
            self._unregistered.add(client)

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        self._record_rtp(loss, jitter_ms)
        if self.quality is self._quality:
            self._quality.add(loss, jitter_ms)
        else:
            self._quality = RtpQuality(loss, jitter_ms)
        self._reported_ms = self._clock.now_ms()
