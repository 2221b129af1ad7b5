"""Faults of a world's engines: they are killed, frozen, stopped, added, and disconnected."""

from collections.abc import Callable

from tests.harness.sim.redis import TIMEOUT_S
from tests.sim.cluster.connections import CheckedConnection
from tests.sim.cluster.engine import Engine
from tests.sim.cluster.engines import Engines
from tests.sim.faults import SLOW_MS

MAX_ENGINES = 6  # live engines
RETRY_MS = 5_000  # maximum delay between connection attempts
NOTICED_MS = 6_000  # until the heartbeat notices a dead peer


class FaultInjector:
    """Injects faults at random times."""

    def __init__(self, engines: Engines) -> None:
        self.engines = engines
        self._env = engines.env
        self._faults = engines.env.faults
        self._clock = engines.env.clock
        self._rng = engines.env.rng

    def plan(self, within_ms: float) -> None:
        """Schedule all faults."""
        for kind, inject in self.kinds.items():
            if kind in self._faults.kinds:
                for _ in range(self._rng.choice((1, 2, 3))):
                    begin_ms = self._rng.uniform(1_000, within_ms)
                    self._clock.after(begin_ms, self._inject, None, inject)

    @property
    def kinds(self) -> dict[str, Callable[[], str | None]]:
        """The faults by kind; each returns a description, or None when it cannot happen now."""
        return {
            "kill": self._kill,
            "freeze": self._freeze,
            "leave": self._leave,
            "join": self._join,
            "socket": self._lose_socket,
            "replaced": self._replace,
            "cut store": self._cut_store,
            "cut pbx": self._cut_pbx,
        }

    def _inject(self, inject: Callable[[], str | None]) -> None:
        what = inject()
        if what is not None:
            self._faults.counts[what.partition(":")[0]] += 1
            self.engines.say(what)
            self._faults.disturb(1)

    def _some(self) -> Engine | None:
        return self._rng.choice(self.engines.ready) if self.engines.ready else None

    # Engines

    def _kill(self) -> str | None:
        engine = self._some()
        if engine is None:
            return None
        engine.die()
        self._comes_back()
        return f"engine killed: {engine.name}"

    def _leave(self) -> str | None:
        engine = self._some()
        if engine is None:
            return None
        engine.stop()
        self._comes_back()
        return f"engine stopped: {engine.name}"

    def _comes_back(self) -> None:
        if not self.engines.ready or self._rng.random() < 0.6:
            self._clock.after(self.engines.some_ms(20, 500, 3_000, 12_000), self.engines.add_engine)

    def _join(self) -> str | None:
        if len(self.engines.alive) >= MAX_ENGINES:
            return None
        return f"engine joins: {self.engines.start().name}"

    def _freeze(self) -> str | None:
        engine = self._some()
        if engine is None:
            return None
        engine.is_frozen = True
        self._clock.freeze(engine.loop)
        self._clock.after(self.engines.some_ms(300, 2_000, 4_000, 9_000), self._thaw, None, engine)
        return f"engine frozen: {engine.name}"

    def _thaw(self, engine: Engine) -> None:
        if engine.is_frozen and not engine.loop.is_dead:
            self.engines.say(f"{engine.name} is thawed")
            self._faults.disturb(RETRY_MS)  # by then it has reconnected
            engine.is_frozen = False
            self._clock.thaw(engine.loop)

    # Connections

    def _cut_store(self) -> str | None:
        engine = self._some()
        if engine is None or engine.link.is_cut:
            return None
        engine.link.is_cut = True
        self._clock.after(self.engines.some_ms(300, 3_000, 9_000), self._mend_store, None, engine)
        return f"store cut: {engine.name}"

    def _mend_store(self, engine: Engine) -> None:
        self.engines.say(f"{engine.name} reaches the store again")
        self._faults.disturb(TIMEOUT_S * 1000)  # the last requests time out
        engine.link.is_cut = False

    def _cut_pbx(self) -> str | None:
        connection = self._connection()
        if connection is None or connection.is_cut:
            return None
        is_dead = self._rng.random() < 0.5
        connection.cut(is_dead=is_dead)
        cut_ms = self.engines.some_ms(300, 3_000, 15_000)
        self._faults.disturb(cut_ms + SLOW_MS if is_dead else cut_ms + 1)
        self._clock.after(NOTICED_MS if is_dead else 0, self._drop, None, connection)
        self._clock.after(cut_ms, self._mend_pbx, None, connection)
        return f"pbx cut: {connection.engine}, {connection.node.name}"

    def _drop(self, connection: CheckedConnection) -> None:
        if connection.is_cut:
            connection.drop()

    def _mend_pbx(self, connection: CheckedConnection) -> None:
        self.engines.say(f"{connection.engine} reaches {connection.node.name} again")
        self._faults.disturb(RETRY_MS)
        connection.mend()

    def _lose_socket(self) -> str | None:
        connection = self._connection()
        if connection is None or not connection.sockets:
            return None
        socket = self._rng.choice(connection.sockets)
        connection.node.closed(socket)
        notices_ms = self._rng.choice((0, 0, 50, NOTICED_MS)) * self._rng.random()
        self._faults.disturb(notices_ms + 1)
        self._clock.after(notices_ms, socket.ended, None, "lost")
        return f"websocket lost: {connection.engine}, {connection.node.name}, {socket.app}"

    def _replace(self) -> str | None:
        connection = self._connection()
        if (
            connection is None or connection.is_dead or not connection.sockets
        ):  # a dead network delivers no ApplicationReplaced
            return None
        socket = self._rng.choice(connection.sockets)
        connection.node.replaces(socket)
        connection.node.closed(socket)
        return f"app replaced: {connection.engine}, {connection.node.name}, {socket.app}"

    def _connection(self) -> CheckedConnection | None:
        engine = self._some()
        return self._rng.choice(list(engine.shards.connections.values())) if engine else None
