"""What is looked at all the while: that calls can be controlled, and that slots are shared."""

from tests.sim.cluster.engines import Crew

EVERY_MS = 200
SLACK_MS = 2 * EVERY_MS
SHARED_MS = 15_000  # after the last fault: who could not reach a node is forgiven in 5 s


class Watch:
    """Looks at a world again and again; `wrong` is what it saw."""

    def __init__(self, crew: Crew) -> None:
        self.wrong: list[tuple[str, str]] = []
        self._crew = crew
        self._ground = crew.ground
        self._clock = crew.ground.clock
        self._able_ms = self._whole_ms = self._clock.at_ms
        self._loose: set[tuple[str, int]] = set()  # nodes' slots that nobody controlled just now
        self._again()

    def _again(self) -> None:
        if not self._crew.is_able:
            self._able_ms = self._clock.at_ms
        if not self._crew.is_whole:
            self._whole_ms = self._clock.at_ms
        if (quiet_ms := self._since(self._able_ms)) > self._claimed_ms + 1_000 + SLACK_MS:
            self._look_for_control(quiet_ms)
        else:
            self._loose = set()
        if (quiet_ms := self._since(self._whole_ms)) > SHARED_MS + SLACK_MS:
            self._look_for_shares(quiet_ms)
        self._clock.after(EVERY_MS, self._again)

    @property
    def _claimed_ms(self) -> float:
        """Tell within what time a slot is claimed that nobody has.

        If the store has forgotten whose it was, an engine that is missing since may still have it.
        """
        leases = 2 if self._ground.redis.memory.lost else 1
        return leases * self._ground.rhythm.lease_s * 1000

    def _since(self, begin_ms: float) -> float:
        return self._clock.at_ms - max(begin_ms, self._ground.weather.last_ms)

    def _look_for_control(self, quiet_ms: float) -> None:
        """Find slots that nobody controls, and did not a look ago: handing one over takes less."""
        loose = {
            (pbx.name, slot)
            for pbx in self._ground.pbxs.values()
            for slot in range(self._ground.slots)
            if pbx.is_up and not self._crew.controls(pbx.name, slot)
        }
        for node, slot in sorted(loose & self._loose):
            what = f"nobody controls slot {slot} at {node}"
            self._say("", f"{what}, {quiet_ms:.0f} ms after the last fault")
        self._loose = loose

    def _look_for_shares(self, quiet_ms: float) -> None:
        if not self._crew.is_shared:
            held = {each.name: sorted(each.keeper.held) for each in self._crew.alive}
            self._say("", f"slots are {held}, {quiet_ms:.0f} ms after the last fault")

    def _say(self, who: str, words: str) -> None:
        if len(self.wrong) < 5:
            self.wrong.append((who, f"{self._clock.at_ms:.0f} {words}"))
