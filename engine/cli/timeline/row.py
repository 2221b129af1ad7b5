"""One line of a call's story, and what must be remembered between lines."""

from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

ENGINE = "engine"
WEB = "web"
Shape = Literal["arrow", "mark", "join", "break"]
Kind = Literal["plain", "good", "bad", "digit", "sound", "web", "faint"]


class Row(Struct, frozen=True):
    """An arrow between two lanes, a mark on one, legs joined, or a break across all."""

    text: str
    source: str = ENGINE
    target: str = ENGINE
    shape: Shape = "arrow"
    kind: Kind = "plain"
    opens: str = ""  # the lane that begins here
    closes: str = ""  # the lane that ends here
    label: str = ""  # who the lane is that begins
    joined: tuple[str, ...] = ()  # the legs that shape `join` draws together
    bridged: tuple[str, ...] = ()  # the legs that are in company from here on
    at_ms: int = 0  # since the call began


@dataclass(slots=True)
class TimelineState:
    """What earlier moments said: who the legs are, who is with whom, how sessions stand."""

    caller: str
    state: str = ""
    answered: set[str] = field(default_factory=set)
    flow_requests: set[str] = field(default_factory=set)
    leg_letters: dict[str, str] = field(default_factory=dict)  # of legs
    bridges: dict[str, tuple[str, ...]] = field(default_factory=dict)  # bridges, and who is there
    snoops: dict[str, str] = field(default_factory=dict)  # and whom they hear
    music: dict[str, str] = field(default_factory=dict)  # playbacks, and who waits with them
    ended: set[str] = field(default_factory=set)
    session_states: dict[str, str] = field(default_factory=dict)  # of sessions and members
    transfer_modes: dict[str, str] = field(default_factory=dict)  # of transfers

    def name(self, leg: str) -> str:
        """Give the letter of a leg's lane; who comes first is A."""
        return self.leg_letters.setdefault(leg, _letter(len(self.leg_letters)))

    def names(self, legs: tuple[str, ...]) -> str:
        """Give the letters of several: A, B and C."""
        *most, last = sorted(map(self.name, legs), key=lambda each: (len(each), each))
        return f"{', '.join(most)} and {last}" if most else last

    def join(self, bridge: str, legs: tuple[str, ...]) -> None:
        """Note that legs are in a bridge now, and in no other."""
        self.leave(*legs)
        self.bridges[bridge] = (*self.bridges.get(bridge, ()), *legs)

    def leave(self, *legs: str) -> None:
        """Note that legs are in no bridge now."""
        for bridge, there in self.bridges.items():
            self.bridges[bridge] = tuple(each for each in there if each not in legs)

    @property
    def ringing(self) -> set[str]:
        """The legs that are called and have not answered."""
        return self.leg_letters.keys() - self.answered - self.ended - self.snoops.keys()

    @property
    def bridged(self) -> tuple[str, ...]:
        """The legs that are in company."""
        return tuple(leg for legs in self.bridges.values() if len(legs) > 1 for leg in legs)


def _letter(place: int) -> str:
    rounds, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(rounds) if rounds else "")
