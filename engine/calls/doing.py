"""All that a call can be doing: one value at a time, each that waits with its deadline.

Deadlines are wall-clock milliseconds. The verbs' files say how each begins and what moves it.
"""

from typing import Literal

from msgspec import Struct

from wire.hooks import DialResult
from wire.media import Clip
from wire.verbs import Action, Dial, Gather, Play, Say, Verb


class _Doing(Struct, frozen=True, array_like=True, tag_field="d"):
    """What all states share: stored as tagged arrays."""


class Starting(_Doing, frozen=True, tag="starting"):
    """The main leg is not up yet; then `action` runs."""

    action: Action | None
    deadline_ms: int


class Next(_Doing, frozen=True, tag="next"):
    """A verb has ended: passed through within one step, never stored.

    `event` and `dial` tell an address what has just ended; `fallback` runs when it does not answer.
    """

    action: Action | None
    event: str
    dial: DialResult | None = None
    fallback: Verb | None = None


class Playing(_Doing, frozen=True, tag="playing"):
    """Audio is fetched (no clips yet), then played, to the main leg."""

    verb: Play | Say
    request: str
    deadline_ms: int
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    paused: bool = False  # its leg is on hold
    heard_ms: int = 0  # of the clips, before it was paused


class Gathering(_Doing, frozen=True, tag="gathering"):
    """Digits are collected: during the prompt, before the first digit, or between digits."""

    verb: Gather
    leg: str
    phase: Literal["fetch", "prompt", "first", "between"]
    deadline_ms: int  # of this phase
    limit_ms: int  # of the whole verb
    request: str = ""  # the prompt's
    clips: tuple[Clip, ...] = ()
    ends_ms: int = 0
    digits: str = ""
    paused: bool = False  # its leg is on hold
    heard_ms: int = 0  # of the prompt, before it was paused
    paused_ms: int = 0  # when


class Dialing(_Doing, frozen=True, tag="dialing"):
    """Legs are called; the first to answer wins."""

    verb: Dial
    legs: tuple[str, ...]
    deadline_ms: int
    cause: int = 0  # of the leg that ended last


class Asking(_Doing, frozen=True, tag="asking"):
    """A webhook or a stored flow was asked what to do next."""

    request: str
    deadline_ms: int
    fallback: Verb | None = None


class Talking(_Doing, frozen=True, tag="talking"):
    """The main leg and others share a bridge."""

    verb: Dial
    leg: str  # the one that the dial reached
    legs: tuple[str, ...]  # all that share the bridge with the main leg
    bridge: str
    since_ms: int
    deadline_ms: int
    number: str | None = None  # which of the dial's was reached
    asking: Asking | None = None  # a question that the conversation came upon


class Ending(_Doing, frozen=True, tag="ending"):
    """All legs were told to hang up."""

    deadline_ms: int
    tries: int = 0


class Over(_Doing, frozen=True, tag="over"):
    """Nothing more can happen."""


Doing = Starting | Next | Playing | Gathering | Dialing | Talking | Asking | Ending | Over
