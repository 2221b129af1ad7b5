"""The kinds of calls: what the phones do, and what the record of each call must say."""

import random
from typing import Any

from msgspec import Struct

from tools.bench.ivr.rtp import DIGIT_MS, GAP_MS

GATHER_TIMEOUT_MS = 30_000  # a gather waits longer than any caller
LONG_MS = 60_000
STAYS, LEAVES, BUSY, RINGS = "0123"  # sipp/callee.xml


class Kind(Struct, frozen=True):
    """Calls of one kind; `live` of them at any time.

    `ended_by`: of the record. `stay_ms`: the caller hangs up after a random time in this range;
    without it, someone else does. `digits`: what its callers press. `callee`: the dialled phone.
    """

    name: str
    live: int
    ended_by: str
    mean_s: float
    stay_ms: tuple[int, int] | None = None
    digits: bool = False
    callee: str = ""
    agent: str = ""


AGENTS = tuple(
    Kind(f"agent {agent}", 1, by, 8, stay, agent=agent)
    for agent, by, stay in (
        ("1001", "caller", (3_000, 9_000)),
        ("1002", "caller", (3_000, 9_000)),
        ("1003", "callee", None),
        ("1004", "callee", None),
    )
)
KINDS = (
    Kind("menu", 60, "action", 6, digits=True),
    Kind("menu, leaves", 30, "caller", 13, (10_000, 16_000), digits=True),
    Kind("menu, gives up", 20, "caller", 7, (5_000, 9_000), digits=True),
    Kind("talk, leaves", 25, "caller", 8, (4_000, 12_000), callee=STAYS),
    Kind("talk, is left", 25, "callee", 8, callee=LEAVES),
    Kind("callee busy", 4, "action", 2, callee=BUSY),
    Kind("callee rings", 12, "caller", 5, (2_000, 8_000), callee=RINGS),
    Kind("hung up by API", 30, "api", 10),
    *AGENTS,
)


class Digits(Struct, frozen=True):
    """When which digit is pressed, in ms after the answer, and what the gathers report."""

    presses: tuple[tuple[int, str], ...] = ()
    gathered: tuple[tuple[str, str], ...] = ()


def choose_digits(kind: Kind, rng: random.Random) -> Digits:
    """Return random digits at random times: during the prompt, while a gather waits, or later."""
    if not kind.digits:
        return Digits()
    first = "".join(rng.choices("0123456789*", k=rng.choice((1, 2, 3, 4))))
    second = rng.choice("0123456789*")
    if kind.name.endswith("gives up"):
        first = first[:3]
        return Digits(_press(first, rng), ((first, "hangup"),))
    ends = "max-digits" if len(first) == 4 else "terminator"
    pressed = first + ("" if len(first) == 4 else "#") + second
    return Digits(_press(pressed, rng), ((first, ends), (second, "max-digits")))


def _press(digits: str, rng: random.Random) -> tuple[tuple[int, str], ...]:
    at_ms = rng.randrange(100, 2_500, 20)
    presses = []
    for digit in digits:
        presses.append((at_ms, digit))
        at_ms += DIGIT_MS + GAP_MS + rng.randrange(0, 700, 20)
    return tuple(presses)


def tree(kind: Kind, sounds: dict[str, str], second_menu: str) -> dict[str, Any]:
    """Return the action of a kind's number; the webhook `second_menu` answers the first gather."""
    if kind.digits:
        return _play(sounds["second"], _gather(4, second_menu))
    if kind.agent:
        return {"type": "dial", "data": {"agent_id": kind.agent}}
    if kind.callee:
        dial = {"type": "dial", "data": {"number": f"+1555900{kind.callee}"}}
        # SIPp takes a BYE that comes with the answer for an unexpected one.
        return _play(sounds["second"], dial) if kind.callee == BUSY else dial
    return _play(sounds["minute"], None)


def after_menu(kind: Kind, sounds: dict[str, str]) -> dict[str, Any]:
    """Return the second menu and what follows it: an end, or audio until the caller leaves."""
    hangup = {"type": "hangup", "data": {}}
    return _gather(1, _play(sounds["minute" if kind.stay_ms else "second"], hangup))


def _gather(digits: int, action: object) -> dict[str, Any]:
    data = {"maxDigits": digits, "timeout": GATHER_TIMEOUT_MS, "digitTimeout": GATHER_TIMEOUT_MS}
    return {"type": "gather", "data": data, "action": action}


def _play(url: str, action: object) -> dict[str, Any]:
    return {"type": "play", "data": {"audioUrl": url}, "action": action}
