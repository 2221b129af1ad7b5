"""Checks during a run that calls can be controlled, and that shards are shared evenly."""

from tests.sim.checks.ends import HANDOVER_MS
from tests.sim.cluster.engines import Engines
from wire.shard import ShardId

EVERY_MS = 200
SLACK_MS = 2 * EVERY_MS
SETTLING_MS = 6_000  # one shard moves with each heartbeat
SHARED_MS = 15_000  # after the last fault; a node failure counts for 5 s
WATCHED_MS = SHARED_MS + SLACK_MS - SETTLING_MS  # one poll may find a move that the next undoes


class HealthMonitor:
    """Polls a world; `violations` is what it found."""

    def __init__(self, engines: Engines) -> None:
        self.violations: list[tuple[str, str]] = []
        self._engines = engines
        self._env = engines.env
        self._clock = engines.env.clock
        self._able_ms = self._whole_ms = self._shared_ms = self._clock.at_ms
        # Since when: uncontrolled at each poll since then.
        self._loose_since_ms: dict[ShardId, float] = {}
        self._poll()

    def _poll(self) -> None:
        if not self._engines.is_able:
            self._able_ms = self._clock.at_ms
        if not self._engines.is_whole:
            self._whole_ms = self._clock.at_ms
        if (quiet_ms := self._since(self._able_ms)) > self._claimed_ms + 1_000 + SLACK_MS:
            self._check_control(quiet_ms)
        else:
            self._loose_since_ms = {}
        if (quiet_ms := self._since(self._whole_ms)) > WATCHED_MS:
            self._check_shares(quiet_ms)
        self._clock.after(EVERY_MS, self._poll)

    @property
    def _claimed_ms(self) -> float:
        """Return the time within which a free shard is claimed.

        If the store has no owner, it may have lost it: an engine that has been away since may still
        own the shard.
        """
        memory = self._env.redis.memory
        is_unknown = memory.lost or not all(memory.kept(each).owner for each in self._env.shards)
        leases = 2 if is_unknown else 1
        return leases * self._env.timings.lease_s * 1000

    def _since(self, begin_ms: float) -> float:
        return self._clock.at_ms - max(begin_ms, self._env.faults.last_ms)

    def _check_control(self, quiet_ms: float) -> None:
        """Find shards that no engine controls for longer than a handover takes."""
        now_ms, before = self._clock.at_ms, self._loose_since_ms
        self._loose_since_ms = {
            shard: before.get(shard, now_ms)
            for shard in self._env.shards
            if self._env.pbxs[shard.node].is_up
            and not self._engines.controls(shard)
            and self._engines.has_room_for(shard)
        }
        for shard, since_ms in sorted(self._loose_since_ms.items()):
            if now_ms - since_ms >= HANDOVER_MS:
                what = f"no engine controls shard {shard}"
                self._report("", f"{what}, {quiet_ms:.0f} ms after the last fault")

    def _check_shares(self, quiet_ms: float) -> None:
        """Find loads that stay unequal: calls that begin and end change them again and again."""
        now_ms = self._clock.at_ms
        watched_since_ms = now_ms - quiet_ms + WATCHED_MS
        if self._engines.is_shared:
            self._shared_ms = now_ms
        elif now_ms - max(self._shared_ms, watched_since_ms) > SETTLING_MS:
            held = {
                each.name: [str(shard) for shard in sorted(each.lease_manager.held)]
                for each in self._engines.alive
            }
            self._report("", f"shards are {held}, {quiet_ms:.0f} ms after the last fault")

    def _report(self, subject: str, message: str) -> None:
        if len(self.violations) < 5:
            self.violations.append((subject, f"{self._clock.at_ms:.0f} {message}"))
