"""Checks during a run that calls can be controlled, and that slots are shared evenly."""

from tests.sim.cluster.engines import Engines

EVERY_MS = 200
SLACK_MS = 2 * EVERY_MS
# The old owner waits up to 250 ms for customers' responses, the next one takes 60 ms to recover.
HANDOVER_MS = 400
SHARED_MS = 15_000  # after the last fault; a node failure counts for 5 s


class HealthMonitor:
    """Polls a world; `violations` is what it found."""

    def __init__(self, engines: Engines) -> None:
        self.violations: list[tuple[str, str]] = []
        self._engines = engines
        self._env = engines.env
        self._clock = engines.env.clock
        self._able_ms = self._whole_ms = self._clock.at_ms
        # Node and slot, and since when: uncontrolled at each poll since then.
        self._loose_since_ms: dict[tuple[str, int], float] = {}
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
        if (quiet_ms := self._since(self._whole_ms)) > SHARED_MS + SLACK_MS:
            self._check_shares(quiet_ms)
        self._clock.after(EVERY_MS, self._poll)

    @property
    def _claimed_ms(self) -> float:
        """Return the time within which a free slot is claimed.

        If the store forgot the owner, an engine that has been away since may still own the slot.
        """
        leases = 2 if self._env.redis.memory.lost else 1
        return leases * self._env.timings.lease_s * 1000

    def _since(self, begin_ms: float) -> float:
        return self._clock.at_ms - max(begin_ms, self._env.faults.last_ms)

    def _check_control(self, quiet_ms: float) -> None:
        """Find slots that no engine controls for longer than a handover takes."""
        now_ms, before = self._clock.at_ms, self._loose_since_ms
        self._loose_since_ms = {
            (pbx.name, slot): before.get((pbx.name, slot), now_ms)
            for pbx in self._env.pbxs.values()
            for slot in range(self._env.slots)
            if pbx.is_up and not self._engines.controls(pbx.name, slot)
        }
        for (node, slot), since_ms in sorted(self._loose_since_ms.items()):
            if now_ms - since_ms >= HANDOVER_MS:
                what = f"no engine controls slot {slot} at {node}"
                self._report("", f"{what}, {quiet_ms:.0f} ms after the last fault")

    def _check_shares(self, quiet_ms: float) -> None:
        if not self._engines.is_shared:
            held = {each.name: sorted(each.lease_manager.held) for each in self._engines.alive}
            self._report("", f"slots are {held}, {quiet_ms:.0f} ms after the last fault")

    def _report(self, subject: str, message: str) -> None:
        if len(self.violations) < 5:
            self.violations.append((subject, f"{self._clock.at_ms:.0f} {message}"))
