"""The state diagrams of docs/sessions.md, drawn from the tables that the core runs by.

`python -m tests.harness.generate.diagrams` (make docs) writes them into the page.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.calls.model.sessions import CONFERENCE_MOVES, MEMBER_MOVES, TRANSFER_MOVES

PAGE = Path(__file__).parents[3] / "docs" / "sessions.md"
Moves = Mapping[Any, Sequence[str]]
TABLES: dict[str, Moves] = {
    "transfer": TRANSFER_MOVES,
    "conference": CONFERENCE_MOVES,
    "member": MEMBER_MOVES,
}
_BLOCK = re.compile(r"(<!-- drawn: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def drawn(moves: Moves) -> str:
    """Draw a table of moves as a mermaid state diagram, which begins in its first state."""
    arrows = [(before, after) for before, afters in moves.items() for after in afters]
    final = sorted({after for _, after in arrows} - set(moves))
    lines = [
        f"[*] --> {_name(next(iter(moves)))}",
        *(f"{_name(before)} --> {_name(after)}" for before, after in arrows),
        *(f"{_name(state)} --> [*]" for state in final),
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return f"```mermaid\nstateDiagram-v2\n{body}```\n"


def with_diagrams(page: str) -> str:
    """Put each diagram where the page wants it."""
    return _BLOCK.sub(lambda found: found[1] + drawn(TABLES[found[2]]) + found[3], page)


def _name(state: str) -> str:
    return state.replace("-", "_")


if __name__ == "__main__":
    PAGE.write_text(with_diagrams(PAGE.read_text()))
