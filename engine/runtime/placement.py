"""Where a new call goes, and whether there is room for it at all."""

from msgspec import Struct

from engine.runtime.clock import Clock
from engine.runtime.desk import Desk
from engine.runtime.node import Node


class NoRoom(Exception):
    """No new call can begin now: why, and when to ask again."""

    def __init__(self, code: str, detail: str, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_s = retry_after_s


class Obstacle(Struct, frozen=True):
    """Why no new call may begin."""

    code: str
    detail: str


class Gate:
    """Lets so many new calls a second through, with a burst of one second's worth."""

    def __init__(self, clock: Clock, per_s: int, most: int) -> None:
        self._clock = clock
        self.per_s = per_s
        self.most = most
        self._room = float(per_s)
        self._at_ms = clock.now_ms()

    def admits(self, live: int) -> bool:
        """Tell whether one more call may begin while `live` are; counts it if so."""
        if live >= self.most or self.room < 1:
            return False
        self._room -= 1
        return True

    @property
    def room(self) -> float:
        """How many new calls could begin at once now."""
        now = self._clock.now_ms()
        self._room = min(self.per_s, self._room + (now - self._at_ms) * self.per_s / 1000)
        self._at_ms = now
        return self._room


class Placement:
    """Chooses a node for a call, and says when there is none."""

    def __init__(self, gate: Gate) -> None:
        self.nodes: dict[str, Node] = {}
        self.gate = gate

    @property
    def live(self) -> int:
        """How many calls live in this engine."""
        return sum(node.live for node in self.nodes.values())

    def choose(self, name: str | None, slot: int) -> Desk:
        """Choose where a call begins, and count it; raises NoRoom."""
        desk = self._least_loaded(name, slot).desks[slot]
        if obstacle := self.admits(desk):
            raise NoRoom(obstacle.code, obstacle.detail)
        return desk

    def admits(self, desk: Desk) -> Obstacle | None:
        """Tell why no call may begin at a desk; None: one may, and is counted."""
        if not desk.can_store:
            return Obstacle("store_down", "calls can't be stored now")
        if self.nodes[desk.place.node].is_strained or not self.gate.admits(self.live):
            return Obstacle("overloaded", "no room for another call now")
        return None

    def is_heard(self, slot: int) -> bool:
        """Tell whether some node can be heard in a slot."""
        desks = (node.desks.get(slot) for node in self.nodes.values())
        return any(desk is not None and not desk.is_held for desk in desks)

    def _least_loaded(self, name: str | None, slot: int) -> Node:
        # Asterisk drops a leg made in an app that nobody listens to: this slot must be heard.
        heard = (n for n in self.nodes.values() if not n.desks[slot].is_held)
        nodes = [n for n in heard if name in {None, n.name}]
        if not nodes:
            away = ", ".join(sorted(self.nodes)) or "none configured"
            raise NoRoom("no_node", f"no PBX node is connected ({away})", 5)
        return min(nodes, key=lambda node: (node.is_strained, node.live))
