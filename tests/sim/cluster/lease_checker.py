"""Checks that every command to a PBX comes from the owner of the shard at that moment."""

from collections.abc import Mapping

from msgspec import Struct

from engine.ari.request import Request
from engine.calls.model.causes import NO_CIRCUIT
from tests.harness.sim.clock import SimClock
from tests.harness.sim.pbx import SimPbx
from wire.call_id_format import call_of, shard_of
from wire.shard import ShardId


class Claim(Struct):
    """The owner of a shard by the store's last grant, and the end of its lease."""

    engine: str
    until_ms: float


class LeaseChecker:
    """Knows the owner of each shard, even when the store has lost it."""

    def __init__(self, clock: SimClock, pbxs: Mapping[str, SimPbx]) -> None:
        self.violations: list[tuple[str, str]] = []
        # Live channels that an engine hung up, except for refused callers: channel, time in ms.
        self.hung_up: list[tuple[str, float]] = []
        self._clock = clock
        self._pbxs = pbxs
        self._claims: dict[ShardId, Claim] = {}

    def grant(self, shard: ShardId, engine: str, lease_ms: int) -> None:
        """Record that the store granted or renewed a lease."""
        self._claims[shard] = Claim(engine, self._clock.at_ms + lease_ms)

    def shards_of(self, engine: str) -> list[ShardId]:
        """Return the shards that an engine has by the store's grants."""
        return [shard for shard, claim in self._claims.items() if claim.engine == engine]

    def check_request(self, engine: str, node: str, request: Request) -> None:
        """Check an ARI request."""
        if request.method == "GET":
            return
        kind, target, *more = request.path.split("/")
        about = dict(request.query).get("channelId", target)
        if (request.method, kind, more) == ("DELETE", "channels", []):
            self._record_hangup(node, target, request)
        self.check_command(engine, node, about, f"{request.method} {request.path}")

    def check_command(self, engine: str, node: str, about: str, message: str) -> None:
        """Check a command about a channel, bridge or playback."""
        shard = self._shard(node, about)
        if shard is None:
            return
        claim, now = self._claims.get(shard), self._clock.at_ms
        if claim is None or claim.engine != engine:
            owner = claim.engine if claim else "no engine"
            self.violations.append(
                (about, f"{engine} sent {message}: shard {shard} belongs to {owner}")
            )
        elif now > claim.until_ms:
            late_ms = now - claim.until_ms
            self.violations.append(
                (about, f"{engine} sent {message} {late_ms:.0f} ms after its lease")
            )

    def _record_hangup(self, node: str, channel: str, request: Request) -> None:
        # A refusal: if it is lost or late, another engine may accept the caller.
        is_refusal = ("reason_code", str(NO_CIRCUIT)) in request.query
        if channel in self._pbxs[node].channels and not is_refusal:
            self.hung_up.append((channel, self._clock.at_ms))

    def _shard(self, node: str, about: str) -> ShardId | None:
        if call := call_of(about):
            return shard_of(call)
        channel = self._pbxs[node].channels.get(about)
        return ShardId(node, int(channel.app.rpartition("-")[2])) if channel else None
