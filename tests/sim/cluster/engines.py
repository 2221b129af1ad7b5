"""The engines of a world, and the health of their cluster."""

from engine.runtime.cluster.share_plan import SHARD_WEIGHT, EngineState, SharePlan, plan_shares
from tests.sim.cluster.engine import Engine
from tests.sim.cluster.environment import ClusterEnvironment
from tests.sim.cluster.faults import EngineFaults
from wire.shard import ShardId


class Engines:
    """All engines in the order of their start, also the dead ones."""

    def __init__(self, env: ClusterEnvironment) -> None:
        self.env = env
        self.all: list[Engine] = []

    def start(self) -> Engine:
        """Start another engine."""
        name = f"engine{len(self.all)}"
        faults = EngineFaults(self.env.faults, lambda boundary: self.crash(name, boundary))
        engine = Engine(self.env, name, faults, lambda: self.alive)
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
        """Return whether every shard has one owner, and loads are about equal."""
        held = [shard for each in self.alive for shard in each.lease_manager.held]
        is_all = sorted(held) == sorted(self.env.shards)
        return is_all and not self.plan.moves and self.is_even

    @property
    def is_even(self) -> bool:
        """Return whether no engine has much more than another that could take a shard of it."""
        states = self.states
        if len({state.format for state in states.values()}) > 1:
            return True  # those of a later version give nothing to the others
        loads = {name: _load(state) for name, state in states.items()}
        low, high = min(loads, key=loads.__getitem__), max(loads, key=loads.__getitem__)
        average = sum(loads.values()) / len(loads)
        largest = max((calls for calls in states[high].shards.values()), default=0)
        return loads[high] - loads[low] <= largest + 2 * SHARD_WEIGHT + 0.5 * average

    @property
    def plan(self) -> SharePlan:
        """Return what the engines would change if they knew everything."""
        owned = {shard for each in self.alive for shard in each.lease_manager.held}
        free = {shard: self._stored(shard) for shard in self.env.shards if shard not in owned}
        return plan_shares(self.states, free, {})

    @property
    def states(self) -> dict[str, EngineState]:
        nodes = frozenset(self.env.pbxs)
        return {
            each.name: EngineState(
                self.env.capacity,
                {shard: each.lifecycle.calls(shard) for shard in each.lease_manager.held},
                nodes,
                format=each.peers.format,
            )
            for each in self.alive
        }

    def has_room_for(self, shard: ShardId) -> bool:
        """Return whether some engine may get a shard without an owner."""
        return shard not in self.plan.waiting

    def _stored(self, shard: ShardId) -> int:
        return len(self.env.redis.memory.kept(shard).live)

    @property
    def is_known(self) -> bool:
        """Return whether all live engines know exactly each other."""
        urls = {f"http://{each.name}" for each in self.alive}
        known = ((each.name, {peer.url for peer in each.peers.peers}) for each in self.alive)
        return all(others == urls - {f"http://{name}"} for name, others in known)

    def controls(self, shard: ShardId) -> bool:
        """Return whether an engine can control the calls of a shard."""
        for each in self.ready:
            nodes = each.service.nodes
            held = nodes[shard.node].shards.get(shard.slot) if nodes else None
            if held is not None and not held.is_paused and each.link.is_up:
                return True
        return False

    @property
    def is_well(self) -> bool:
        """Return whether no fault has an effect any more."""
        if not (self.is_whole and self.is_shared and self.is_known):
            return False
        return all(map(self.controls, self.env.shards)) and all(map(_can_store, self.alive))

    def say(self, message: str) -> None:
        """Add a line about a fault to the trace."""
        if self.env.say:
            self.env.say(f"** {message}")

    def some_ms(self, *lengths_ms: float) -> float:
        """Choose a random duration."""
        return self.env.rng.choice(lengths_ms) * (0.5 + self.env.rng.random())


def _load(state: EngineState) -> int:
    return sum(state.shards.values()) + SHARD_WEIGHT * len(state.shards)


def _can_store(engine: Engine) -> bool:
    shards = (shard for node in engine.service.nodes.values() for shard in node.shards.values())
    return all(shard.can_store and not shard.pause_buffer.events for shard in shards)
