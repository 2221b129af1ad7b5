"""Finds numbers whose routes dial each other, or themselves, in a circle: each round is a new call.

A carrier passes on no header that could count the rounds, and Asterisk resets Max-Forwards
(docs/asterisk.md). But in each round the same caller is seen at a number, of whichever accounts the
numbers in between are; and an agent's phone that forwards calls is a part of a circle, too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.reporting.dialled_legs import was_dialled
from wire.party import AGENT_PREFIX
from wire.phone_numbers.international_form import international

# Of one caller, in this engine. So many callers at once may come from one number, if the carrier
# connects a number whose route dials it with a phone system.
MAX_ROUNDS = 10
Edge = tuple[str, str]  # a number or an agent that was called, and one that was dialled for it


class Forwarding(Struct, frozen=True):
    """The caller and number of a live inbound call, and what it has dialled; maybe nothing yet."""

    caller: str
    number: str
    edges: frozenset[Edge] = frozenset()


class DialLoops:
    """What live inbound calls have dialled, and how many calls of each caller are among them."""

    def __init__(self) -> None:
        self._rounds: Counter[tuple[str, str]] = Counter()  # by caller and number
        self._edges: Counter[Edge] = Counter()
        self._repeated: defaultdict[str, set[str]] = defaultdict(set)  # edges of many calls

    def add(self, call: Forwarding, sign: int) -> None:
        """Count a call, or forget it with the sign -1."""
        if call.edges:
            _count(self._rounds, (call.caller, call.number), sign)
        for edge in call.edges:
            _count(self._edges, edge, sign)
            start, end = edge
            if self._edges[edge] >= MAX_ROUNDS:
                self._repeated[start].add(end)
            elif start in self._repeated:
                self._repeated[start].discard(end)
                if not self._repeated[start]:
                    del self._repeated[start]

    def closes_one(self, call: Call) -> bool:
        """Return whether a new inbound call is a further round of a circle."""
        new = forwarding_of(call)
        if self._rounds[new.caller, new.number] < MAX_ROUNDS:
            return False
        reached, pending = set[str](), {new.number}
        while pending:
            pending = {end for start in pending for end in self._repeated.get(start, ())} - reached
            reached |= pending
        return new.number in reached


def forwarding_of(call: Call) -> Forwarding:
    """Return what an inbound call has dialled; an outbound one forwards nothing."""
    number = _key(call.to, call.region)
    edges: frozenset[Edge] = frozenset()
    if call.direction == "inbound":
        edges = frozenset((*_by_agent(call, number), *_dialled(call, number)))
    return Forwarding(_key(call.from_, call.region), number, edges)


def _by_agent(call: Call, number: str) -> Iterator[Edge]:
    """Yield which agent's phone has called the number, perhaps to forward a call."""
    main = call.leg(call.main)
    if main is not None and main.agent_id:
        yield _agent(call, main.agent_id), number


def _dialled(call: Call, number: str) -> Iterator[Edge]:
    for leg in call.legs:
        if was_dialled(leg):
            is_agent = leg.party.startswith(AGENT_PREFIX)
            yield number, _agent(call, leg.agent) if is_agent else _key(leg.party, call.region)


def _agent(call: Call, agent: str) -> str:
    return f"{AGENT_PREFIX}{call.account}/{agent}"


def _key(number: str, region: str) -> str:
    """Return a number without what its spellings differ by."""
    return international(number, region).lstrip("+0")


def _count(counts: Counter[Edge], key: Edge, sign: int) -> None:
    counts[key] += sign
    if not counts[key]:
        del counts[key]
