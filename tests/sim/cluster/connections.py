"""One engine's ways to a node: what it orders there is watched, over ARI and over AMI."""

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

PULSE_MS = 300.0  # as ari.pbx.Patience has them
PULSE_ANSWER_MS = 700.0


class CheckedConnection(SimConnection):
    """A line to one of several nodes."""

    def __init__(
        self, env: ClusterEnvironment, node: SimPbx, loop: SimLoop, faults: SimFaults, engine: str
    ) -> None:
        super().__init__(env.clock, node, loop, faults, env.rng)
        self.node = node
        self.engine = engine
        self.is_cut = False
        self.look()
        self._lease_checker = env.lease_checker
        if env.say:
            say = env.say
            self.trace = lambda message: say(f"{engine} {message}")

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request on its way."""
        if self.is_alive:
            self._lease_checker.check_request(self.engine, self.node.name, request)
        super().send(request, key, may_block, done)

    @property
    def sockets(self) -> list[SimSocket]:
        """The websockets that the node has of this engine."""
        return [each for each in self.node.sockets.values() if each.connection is self]

    async def pulse(self, note: Callable[[bool], None]) -> None:
        """Ask the node every moment whether it is there, like `ari.pulse.Pulse`."""
        while True:
            is_answered = self.is_up
            await self.loop.sleep(PULSE_ANSWER_MS if self.is_dead else self.way_ms())
            note(is_answered and self.is_up)
            await self.loop.sleep(PULSE_MS)

    def look(self) -> None:
        """Know whether the node can be reached."""
        self.is_up = self.node.is_up and not self.is_cut

    def cut(self, *, is_dead: bool) -> None:
        """Lead nowhere: nothing comes back, or nothing is even answered."""
        self.is_cut, self.is_dead = True, is_dead
        self.look()

    def drop(self) -> None:
        """Lose the websockets."""
        for socket in self.sockets:
            self.node.closed(socket)
            socket.ended("connection lost")

    def mend(self) -> None:
        """Lead to the node again; what the network has kept arrives."""
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
        """Ask for an action."""
        connection = self._connection
        self._lease_checker.check_command(
            connection.engine, connection.node.name, fields["Channel"], action
        )
        return await self._ami.ask(action, fields)
