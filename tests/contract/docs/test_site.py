"""The docs as a site: it is built whole, and a browser that reads it asks no other host."""

from pathlib import Path

import pytest

from tools.site.build import build
from tools.site.check import check_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site with a script in the place of mermaid's."""
    folder = tmp_path_factory.mktemp("site")
    script = folder / "script.js"
    script.write_text("window.mermaid = null;")
    assert build(folder / "built", script) == []
    return folder / "built/html"


def test_pages_and_their_index_are_there(site: Path) -> None:
    """Each line of llms.txt leads to a page as it is written; search has its index."""
    lines = (site / "llms.txt").read_text().splitlines()
    pages = [line.rpartition("(")[2].rstrip(")") for line in lines if line.startswith("- [")]
    assert len(pages) > 50
    assert [each for each in pages if not (site / each).is_file()] == []
    assert "Hear the words" in (site / "search.json").read_text()


def test_faults_are_found(site: Path) -> None:
    """A link to no page, to no anchor, and anything from another host."""
    broken = site / "broken.html"
    broken.write_text(
        '<a href="nothing/">a</a><a href="tutorial/#nothing">b</a><a href="https://example.com">c</a>'
        '<script src="https://example.com/a.js"></script><pre class="mermaid"></pre>'
    )
    try:
        found = [each for each in check_site(site) if each.startswith("broken.html")]
    finally:
        broken.unlink()
    assert found == [
        "broken.html: loads https://example.com/a.js",
        "broken.html: its diagrams are drawn by a program from elsewhere",
        "broken.html: nothing/ does not exist",
        "broken.html: tutorial/#nothing has no such anchor",
    ]


def test_without_mermaid_diagrams_are_text(tmp_path: Path) -> None:
    """A machine without npm builds the site, too, and no page asks for the program."""
    assert build(tmp_path, None) == []
    assert 'class="mermaid"' not in (tmp_path / "html/sessions/index.html").read_text()
