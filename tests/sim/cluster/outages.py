"""Faults of the store and the PBXs of a world."""

from collections.abc import Callable

from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.redis import SimRedis
from tests.sim.cluster.engines import Engines
from tests.sim.cluster.fault_injector import RETRY_MS, FaultInjector

SILENT_MS = 5_000
NOTICED_MS = 1_000  # by then engines have renewed their leases, and know what a failover has lost
# Jumps of the store host's wall clock, by which leases end; engines use monotonic clocks.
JUMPS_MS = (-120_000, -200, 200, 3_000, 3_600_000)


class Outages(FaultInjector):
    """Also injects faults of the store and the PBXs."""

    def __init__(self, engines: Engines) -> None:
        super().__init__(engines)
        self._redis: SimRedis = engines.env.redis

    @property
    def kinds(self) -> dict[str, Callable[[], str | None]]:
        return {
            **super().kinds,
            "silent": self._fall_silent,
            "restart": self._restart,
            "full": self._fill,
            "failover": self._fail_over,
            "emptied": self._empty,
            "clock": self._jump,
            "pbx": self._kill_pbx,
        }

    def _fall_silent(self) -> str | None:
        if not self._redis.is_well:
            return None
        self._redis.is_silent = True
        self._clock.after(SILENT_MS, self._wake)
        return "store hangs"

    def _wake(self) -> None:
        self._back("the store responds again")
        self._redis.wake()

    def _restart(self) -> str | None:
        if not self._redis.is_well:
            return None
        self._redis.is_up = False
        self._clock.after(self.engines.some_ms(50, 1_000, 4_000, 15_000), self._up)
        return "store restarted"

    def _up(self) -> None:
        self._back("the store is back")
        self._faults.disturb(NOTICED_MS)
        self._redis.come_up()

    def _fill(self) -> str | None:
        if not self._redis.is_well:
            return None
        self._redis.is_full = True
        self._clock.after(self.engines.some_ms(500, 5_000), self._drain)
        return "store full"

    def _drain(self) -> None:
        self._back("the store is writable again")
        self._redis.is_full = False

    def _fail_over(self) -> str | None:
        if not self._redis.is_well:
            return None
        self._redis.memory.replicate()
        self._clock.after(self._rng.choice((5, 100, 900)), self._die)
        return None  # `_die` reports the fault

    def _die(self) -> None:
        if not self._redis.is_well:
            return
        self._faults.counts["store failed over"] += 1
        self._back("the store fails over")
        self._redis.is_up = False
        self._redis.memory.fail_over()
        self._clock.after(self.engines.some_ms(50, 1_000), self._up)

    def _empty(self) -> str | None:
        if not self._redis.is_well:
            return None
        self._redis.memory.lose_all()
        return "store emptied"

    def _jump(self) -> str:
        self._redis.memory.wall.jump(self._rng.choice(JUMPS_MS))
        return "clock jump"

    def _kill_pbx(self) -> str | None:
        pbx = self._rng.choice(list(self._env.pbxs.values()))
        if not pbx.is_up:
            return None
        pbx.crash()
        self._look()
        self._clock.after(self.engines.some_ms(500, 5_000, 40_000), self._pbx_is_back, None, pbx)
        return f"pbx died: {pbx.name}"

    def _pbx_is_back(self, pbx: SimPbx) -> None:
        self._back(f"{pbx.name} is back")
        self._faults.disturb(RETRY_MS)
        pbx.is_up = True
        self._look()

    def _look(self) -> None:
        for engine in self.engines.alive:
            for connection in engine.shards.connections.values():
                connection.look()

    def _back(self, what: str) -> None:
        self.engines.say(what)
        self._faults.disturb(1)
