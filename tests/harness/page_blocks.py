"""The code blocks of a page of the docs, also those inside lists."""

import re
import textwrap
from pathlib import Path

from msgspec import Struct

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = sorted(
    [
        DOCS / "tutorial.md",
        DOCS / "concepts.md",
        DOCS / "troubleshooting.md",
        *(DOCS / "how-to").glob("*.md"),
        *(DOCS / "migration").glob("*.md"),
    ]
)
_FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class PageBlock(Struct, frozen=True):
    """A block: its language, and its text without the indentation of a list."""

    language: str
    text: str


def page_blocks(page: Path, *languages: str) -> list[PageBlock]:
    """Return the blocks of a page in these languages, in order."""
    found = _FENCE.findall(page.read_text())
    blocks = [PageBlock(language, textwrap.dedent(text)) for _, language, text in found]
    return [each for each in blocks if each.language in languages]
