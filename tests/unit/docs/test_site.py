"""The docs site: its navigation is complete, and pages are adapted to it."""

import pytest

from tools.docs.pictures.__main__ import FOLDER, PICTURES
from tools.site.llms import llms_text
from tools.site.pages import DOCS, ROOT, TOP_PAGES, adapted


def test_every_page_is_in_the_navigation() -> None:
    """Once: so readers find it, and so does llms.txt. The README is the first page."""
    listed = [
        line.rpartition("(")[2].rstrip(")")
        for line in llms_text().splitlines()
        if line.startswith("- [")
    ]
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *list(TOP_PAGES.values())[1:]])


def test_links_are_adapted() -> None:
    """To pages, to files beside them, and to files outside the docs, which are then copied."""
    page = DOCS / "how-to/page.md"
    pages = {page: "how-to/page.md", DOCS / "rest.md": "rest.md", ROOT / "README.md": "index.md"}
    text = (
        "# A `b`: c\n[a](../rest.md#d) [b](../../README.md) [c](../../wire/verbs.py) "
        "[d](../schemas/flow.json) [e](#a-b-c) [f](https://example.com)\n"
        "```sh\n# no heading\n[a](../../README.md)\n```\n```mermaid\nx\n```\n"
    )
    found, linked = adapted(text, page, pages, has_mermaid=False)
    assert found == (
        "# A `b`: c { #a-b-c }\n[a](../rest.md#d) [b](../index.md) [c](../source/wire/verbs.py) "
        "[d](../schemas/flow.json) [e](#a-b-c) [f](https://example.com)\n"
        "```sh\n# no heading\n[a](../../README.md)\n```\n```text\nx\n```\n"
    )
    assert linked == [ROOT / "wire/verbs.py"]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_those_that_code_draws(name: str) -> None:
    """Else run `make docs`."""
    assert (FOLDER / name).read_text() == PICTURES[name]()
