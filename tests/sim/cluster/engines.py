"""The engines of a world, and the health of their cluster."""

from tests.sim.cluster.engine import Engine
from tests.sim.cluster.environment import ClusterEnvironment
from tests.sim.cluster.faults import EngineFaults


class Engines:
    """All engines in the order of their start, also the dead ones."""

    def __init__(self, env: ClusterEnvironment) -> None:
        self.env = env
        self.all: list[Engine] = []

    def start(self) -> Engine:
        """Start another engine."""
        name = f"engine{len(self.all)}"
        faults = EngineFaults(self.env.faults, lambda boundary: self.crash(name, boundary))
        engine = Engine(self.env, name, faults)
        self.all.append(engine)
        engine.start()
        return engine

    def crash(self, name: str, boundary: str) -> None:
        """Let an engine die; another one starts later."""
        engine = next(each for each in self.all if each.name == name)
        if not engine.loop.is_dead:
            self.say(f"{name} dies at {boundary}")
            engine.die()
            self.env.faults.disturb(1)
            self.env.clock.after(self.some_ms(20, 500, 3_000, 12_000), self.add_engine)

    def add_engine(self) -> None:
        self.say("an engine starts")
        self.env.faults.disturb(1)
        self.start()

    @property
    def alive(self) -> list[Engine]:
        return [each for each in self.all if not each.loop.is_dead]

    @property
    def ready(self) -> list[Engine]:
        """Return the engines that can serve requests."""
        return [each for each in self.alive if each.is_ready]

    @property
    def engine(self) -> Engine | None:
        """Return a random engine that has calls, or None."""
        busy = [each for each in self.alive if each.calls and not each.is_leaving]
        return self.env.rng.choice(busy) if busy else None

    @property
    def is_whole(self) -> bool:
        """Return whether all engines, connections and PBXs are up."""
        env, alive = self.env, self.alive
        ways = all(
            connection.is_up for each in alive for connection in each.shards.connections.values()
        )
        links = all(each.link.is_up for each in alive)
        nodes = all(pbx.is_up for pbx in env.pbxs.values())
        return bool(alive) and ways and links and nodes and len(self.ready) == len(alive)

    @property
    def is_able(self) -> bool:
        """Return whether any engine can reach the store."""
        return any(each.link.is_up for each in self.ready)

    @property
    def is_shared(self) -> bool:
        """Return whether every slot has an owner, and engines differ by one slot at most."""
        held = [len(each.lease_manager.held) for each in self.alive]
        slots = {slot for each in self.alive for slot in each.lease_manager.held}
        is_all = len(slots) == sum(held) == self.env.slots
        return is_all and max(held) - min(held) <= 1

    @property
    def is_known(self) -> bool:
        """Return whether all live engines know exactly each other."""
        urls = {f"http://{each.name}" for each in self.alive}
        known = ((each.name, {peer.url for peer in each.peers.peers}) for each in self.alive)
        return all(others == urls - {f"http://{name}"} for name, others in known)

    def controls(self, node: str, slot: int) -> bool:
        """Return whether an engine can control the calls of a slot at a PBX."""
        for each in self.ready:
            shard = each.service.nodes[node].shards.get(slot) if each.service.nodes else None
            if shard is not None and not shard.is_paused and each.link.is_up:
                return True
        return False

    @property
    def is_well(self) -> bool:
        """Return whether no fault has an effect any more."""
        if not (self.is_whole and self.is_shared and self.is_known):
            return False
        pairs = ((node, slot) for node in self.env.pbxs for slot in range(self.env.slots))
        return all(self.controls(*pair) for pair in pairs) and all(map(_can_store, self.alive))

    def say(self, message: str) -> None:
        """Add a line about a fault to the trace."""
        if self.env.say:
            self.env.say(f"** {message}")

    def some_ms(self, *lengths_ms: float) -> float:
        """Choose a random duration."""
        return self.env.rng.choice(lengths_ms) * (0.5 + self.env.rng.random())


def _can_store(engine: Engine) -> bool:
    shards = (shard for node in engine.service.nodes.values() for shard in node.shards.values())
    return all(shard.can_store and not shard.pause_buffer.events for shard in shards)
