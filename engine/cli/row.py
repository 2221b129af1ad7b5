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
    who: str = ""  # who the lane is that begins
    joined: tuple[str, ...] = ()  # from here on, for shape `join`; none ends it
    at_ms: int = 0  # since the call began


@dataclass(slots=True)
class Seen:
    """What earlier moments said: answered legs, the flows asked for, sources by request."""

    caller: str
    doing: str = ""
    answered: set[str] = field(default_factory=set)
    flows: set[str] = field(default_factory=set)
    bridge: tuple[str, ...] = ()
