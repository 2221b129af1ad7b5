"""The rows of a timeline, and the state that is kept between them."""

from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

ENGINE = "engine"
WEB = "web"
Shape = Literal["arrow", "mark", "join", "break"]
Kind = Literal["plain", "success", "failure", "digit", "sound", "web", "faint"]


class Row(Struct, frozen=True):
    """An arrow between two lifelines, a mark on one, legs joined, or a break across all."""

    text: str
    source: str = ENGINE
    target: str = ENGINE
    shape: Shape = "arrow"
    kind: Kind = "plain"
    opens: str = ""  # the lifeline that starts here
    closes: str = ""  # the lifeline that ends here
    label: str = ""  # the party of the lifeline that starts
    joined: tuple[str, ...] = ()  # the legs that shape `join` connects
    bridged: tuple[str, ...] = ()  # the legs that are bridged with others from here on
    at_ms: int = 0  # since the call's creation


def mark(text: str, lifeline: str = ENGINE, kind: Kind = "plain") -> Row:
    """Return a mark on one lifeline."""
    return Row(text, lifeline, shape="mark", kind=kind)


@dataclass(slots=True)
class TimelineState:
    """What earlier entries showed: names of legs, members of bridges, states of sessions."""

    caller: str
    call_state: str = ""
    gather_reason: str = ""  # why a gather ended at the present entry
    timer: str = ""  # which timer has passed at the present entry
    answered: set[str] = field(default_factory=set)
    flow_requests: set[str] = field(default_factory=set)
    leg_names: dict[str, str] = field(default_factory=dict)
    bridges: dict[str, tuple[str, ...]] = field(default_factory=dict)  # legs by bridge
    snoops: dict[str, str] = field(default_factory=dict)  # snooped leg by snoop
    listeners: set[str] = field(default_factory=set)  # the snoops of forks
    streams: set[str] = field(default_factory=set)
    recognizers: dict[str, str] = field(default_factory=dict)  # names of recognizers by stream
    ready: set[str] = field(default_factory=set)  # recognizers' streams
    music: dict[str, str] = field(default_factory=dict)  # leg on hold by playback
    ended: set[str] = field(default_factory=set)
    lifelines: dict[str, str] = field(default_factory=dict)  # by later streams
    free_lifelines: dict[str, list[str]] = field(default_factory=dict)  # by label
    labels: dict[str, str] = field(default_factory=dict)  # of streams
    session_states: dict[str, str] = field(default_factory=dict)  # of sessions and members
    transfer_modes: dict[str, str] = field(default_factory=dict)  # of transfers
    attempts: dict[str, list[str]] = field(default_factory=dict)  # their ids, by request
    of_listeners: set[str] = field(default_factory=set)  # requests that listeners got

    def name(self, leg: str) -> str:
        """Return the letter of a leg's lifeline; the first leg is A."""
        return self.leg_names.setdefault(self.lifeline(leg), _short_name(len(self.leg_names)))

    def lifeline(self, leg: str) -> str:
        """Return the lifeline of a leg; a stream has that of the one whose place it has taken."""
        return self.lifelines.get(leg, leg)

    def begin_stream(self, stream: str, label: str) -> None:
        """Give a stream a lifeline: that of an ended one with the same label, if there is one."""
        self.streams.add(stream)
        self.labels[stream] = label
        if free := self.free_lifelines.get(label):
            self.lifelines[stream] = free.pop()

    def end_stream(self, stream: str) -> bool:
        """Free the lifeline of a stream; False: it has ended before."""
        if stream in self.ended:
            return False
        self.ended.add(stream)
        self.free_lifelines.setdefault(self.labels.get(stream, ""), []).append(
            self.lifeline(stream)
        )
        return True

    def names(self, legs: tuple[str, ...]) -> str:
        """Return the letters of several legs: A, B and C."""
        *rest, last = sorted(map(self.name, legs), key=lambda each: (len(each), each))
        return f"{', '.join(rest)} and {last}" if rest else last

    def attempts_of(self, request: str) -> str:
        """Return the ids of a request's attempts in the webhook log; empty without any."""
        ids = self.attempts.get(request)
        return f" [{', '.join(ids)}]" if ids else ""

    def join(self, bridge: str, legs: tuple[str, ...]) -> None:
        """Move legs to a bridge."""
        self.leave(*legs)
        self.bridges[bridge] = (*self.bridges.get(bridge, ()), *legs)

    def leave(self, *legs: str) -> None:
        """Remove legs from their bridges."""
        for bridge, members in self.bridges.items():
            self.bridges[bridge] = tuple(each for each in members if each not in legs)

    @property
    def ringing(self) -> set[str]:
        """The legs that are dialed and not answered."""
        return self.leg_names.keys() - self.answered - self.ended - self.snoops.keys()

    @property
    def bridged(self) -> tuple[str, ...]:
        """The legs that share a bridge with others."""
        return tuple(leg for legs in self.bridges.values() if len(legs) > 1 for leg in legs)


def _short_name(index: int) -> str:
    rounds, short_name = divmod(index, 26)
    return chr(ord("A") + short_name) + (str(rounds) if rounds else "")
