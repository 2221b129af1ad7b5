"""The parts of docs that are rendered from the code (`make docs`)."""

from pathlib import Path

from tests.harness.each import for_each
from tools.docs.diagrams import PAGES, render


@for_each(PAGES, lambda page: page.name)
def test_rendered_parts_are_current(page: Path) -> None:
    """docs/sessions.md and docs/architecture.md show the tables of the code."""
    text = page.read_text()
    assert text.count("<!-- drawn: ") == {"sessions.md": 3, "architecture.md": 2}[page.name]
    assert render(text) == text
