"""How many connections a client may have, and which one gives way when all are taken."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest

from api.auth.throttle import network_of
from api.http.connection_limits import ConnectionLimits

CLIENT, PROXY = "192.0.2.1", "10.0.0.1"
PROXIES = [ip_network("10.0.0.0/8")]


@pytest.mark.parametrize(
    ("address", "others", "has_room"),
    [
        (CLIENT, (CLIENT, PROXY), True),
        (CLIENT, (CLIENT, CLIENT), False),
        (CLIENT, (PROXY, "192.0.2.2", "192.0.2.3"), False),
        ("2001:db8::1", ("2001:db8::2", "2001:db8::3"), False),
        (PROXY, (PROXY, PROXY), True),
        (PROXY, (PROXY, PROXY, CLIENT), False),
    ],
)
def test_room_for_a_connection(address: str, others: Sequence[str], *, has_room: bool) -> None:
    """A network has two of three; a trusted proxy may have all of them; none of them waits."""
    assert ConnectionLimits(3, 2, PROXIES, network_of).make_room(address, others) is has_room


class Connection:
    """A connection that notes when it gives way."""

    def __init__(self, name: str, closed: list[str]) -> None:
        self._name = name
        self._closed = closed
        self.may_be_closed = True

    def give_way(self) -> None:
        self._closed.append(self._name)


ADDRESSES = {"a": "192.0.2.1", "b": "192.0.2.2", "c": "192.0.2.3", "p": PROXY}


class Full:
    """A process all of whose connections wait, named by network and number, such as `b2`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._limits = ConnectionLimits(len(names), len(names), PROXIES, network_of)
        self._others = [ADDRESSES[each[0]] for each in names]
        self.closed: list[str] = []
        self.connections = {each: Connection(each, self.closed) for each in names}
        for name in names:
            self.wait(name)

    def wait(self, name: str) -> None:
        owner = self._limits.owner(ADDRESSES[name[0]])
        self._limits.waiting.add(owner, self.connections[name])

    def send_request(self, name: str) -> None:
        owner = self._limits.owner(ADDRESSES[name[0]])
        self._limits.waiting.remove(owner, self.connections[name])

    def arrive(self, count: int = 1) -> list[str]:
        """Let clients arrive; return which connections have given way, or "refused"."""
        for _ in range(count):
            if not self._limits.make_room("192.0.2.9", self._others):
                self.closed.append("refused")
        return self.closed


def test_who_waits_longest_gives_way() -> None:
    """Among networks that have as many; who sends a request waits from its response on."""
    full = Full(["a1", "b1", "c1"])
    full.send_request("a1")
    full.wait("a1")
    assert full.arrive(4) == ["b1", "c1", "a1", "refused"]


def test_networks_that_have_most_give_way_first() -> None:
    """Until they have as many as others; a proxy, who has those of all customers, comes last."""
    full = Full(["p1", "p2", "p3", "p4", "c1", "a1", "a2", "a3", "b1", "b2"])
    assert full.arrive(7) == ["a1", "a2", "b1", "c1", "a3", "b2", "p1"]


def test_what_has_a_request_stays() -> None:
    """As does what sends the body of a request that an account has authenticated."""
    full = Full(["a1", "a2", "a3", "b1"])
    full.send_request("a1")
    full.connections["a2"].may_be_closed = False
    assert full.arrive(3) == ["a3", "b1", "refused"]
    full.connections["a2"].may_be_closed = True
    assert full.arrive()[-1] == "a2"
