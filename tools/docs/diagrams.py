"""Writes state diagrams into docs/sessions.md and the tables of states into architecture.md.

`python -m tools.docs.diagrams` (`make docs`) writes between the markers of the pages.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.calls.model.sessions import CONFERENCE_MOVES, MEMBER_MOVES, TRANSFER_MOVES
from engine.calls.states import STATES
from engine.calls.verbs.gather.gather import PHASES
from wire.base import tag_of

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "sessions.md", DOCS / "architecture.md")
Moves = Mapping[Any, Sequence[str]]
TABLES: dict[str, Moves] = {
    "transfer": TRANSFER_MOVES,
    "conference": CONFERENCE_MOVES,
    "member": MEMBER_MOVES,
}
_BLOCK = re.compile(r"(<!-- drawn: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def diagram(moves: Moves) -> str:
    """Render transitions as a mermaid state diagram; the first state is the initial one."""
    arrows = [(before, after) for before, afters in moves.items() for after in afters]
    final = sorted({after for _, after in arrows} - set(moves))
    lines = [
        f"[*] --> {_name(next(iter(moves)))}",
        *(f"{_name(before)} --> {_name(after)}" for before, after in arrows),
        *(f"{_name(state)} --> [*]" for state in final),
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return f"```mermaid\nstateDiagram-v2\n{body}```\n"


def state_table() -> str:
    """Render the states of a call as a table, but for the one that no call is stored in."""
    return _table(
        ("state", "ends when", "deadline", "hold of the main leg", "recorded"),
        *(
            (f"`{tag_of(state)}`", each.ends_when, each.deadline, each.on_hold, each.recorded)
            for state, each in STATES.items()
            if each.ends_when
        ),
    )


def phase_table() -> str:
    """Render the phases of a gather as a table."""
    rows = (
        (f"`{name}`", each.ends_when, each.deadline, each.next) for name, each in PHASES.items()
    )
    return _table(("phase", "ends when", "deadline", "next"), *rows)


def _table(head: tuple[str, ...], *rows: tuple[str, ...]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ("---",) * len(head), *rows))


def render(page: str) -> str:
    """Replace the text between a page's markers."""
    return _BLOCK.sub(lambda found: found[1] + _block(found[2]) + found[3], page)


def _block(name: str) -> str:
    match name:
        case "call-states":
            return state_table()
        case "gather-phases":
            return phase_table()
        case _:
            return diagram(TABLES[name])


def _name(state: str) -> str:
    return state.replace("-", "_")


if __name__ == "__main__":
    for each in PAGES:
        each.write_text(render(each.read_text()))
