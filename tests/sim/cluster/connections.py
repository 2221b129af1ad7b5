"""An engine's connections to a PBX: each ARI request and AMI action is checked for its lease."""

from collections.abc import Callable

from engine.ami.client import AmiResponse
from engine.ari.request import OnReply, Request
from tests.harness.sim.connection import SimConnection
from tests.harness.sim.events import SimFaults
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.pbx import SimPbx
from tests.harness.sim.recorder import SimAmi
from tests.harness.sim.socket import SimSocket
from tests.sim.cluster.environment import ClusterEnvironment

PULSE_MS = 300.0  # as engine.ari has them
PULSE_ANSWER_MS = 700.0
RARE_PULSE_MS = 5_000.0  # without calls on the node


class CheckedConnection(SimConnection):
    """A connection to one of several PBXs."""

    def __init__(
        self, env: ClusterEnvironment, node: SimPbx, loop: SimLoop, faults: SimFaults, engine: str
    ) -> None:
        super().__init__(env.clock, node, loop, faults, env.rng)
        self.node = node
        self.engine = engine
        self.is_cut = False
        self.keeps_order = env.keeps_order
        self.look()
        self._lease_checker = env.lease_checker
        if env.say:
            say = env.say
            self.trace = lambda message: say(f"{engine} {message}")

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Check and send a request."""
        if self.is_alive:
            self._lease_checker.check_request(self.engine, self.node.name, request)
        super().send(request, key, may_block, done)

    @property
    def sockets(self) -> list[SimSocket]:
        """Return this engine's websockets to the PBX."""
        return [each for each in self.node.sockets.values() if each.connection is self]

    async def pulse(self, note: Callable[[bool], None], *, is_rare: bool = False) -> None:
        """Probe the PBX periodically, like the engine's health probe."""
        while True:
            is_answered = self.is_up
            await self.loop.sleep(PULSE_ANSWER_MS if self.is_dead else self.way_ms())
            is_answered = is_answered and self.is_up
            note(is_answered)
            await self.loop.sleep(RARE_PULSE_MS if is_rare and is_answered else PULSE_MS)

    def look(self) -> None:
        """Update whether the PBX is reachable."""
        self.is_up = self.node.is_up and not self.is_cut

    def cut(self, *, is_dead: bool) -> None:
        """Cut the connection: requests fail, or time out on a dead network."""
        self.is_cut, self.is_dead = True, is_dead
        self.look()

    def drop(self) -> None:
        """Close the websockets."""
        for socket in self.sockets:
            self.node.closed(socket)
            socket.ended("connection lost")

    def mend(self) -> None:
        """Restore the connection; events that a dead network held arrive."""
        self.is_cut = self.is_dead = False
        self.look()
        for socket in self.sockets:
            socket.mended()


class CheckedAmi:
    """Implements `engine.runtime.recording.recorder.Ami`."""

    def __init__(
        self, connection: CheckedConnection, faults: SimFaults, env: ClusterEnvironment
    ) -> None:
        self._connection = connection
        self._ami = SimAmi(connection, faults)
        self._lease_checker = env.lease_checker

    async def ask(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Check and send an action."""
        connection = self._connection
        self._lease_checker.check_command(
            connection.engine, connection.node.name, fields["Channel"], action
        )
        return await self._ami.ask(action, fields)
