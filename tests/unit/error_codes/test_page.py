"""The pages that servers have of error codes."""

import re

from msgspec.structs import replace

from tests.harness.each import for_each
from wire.docs_address import error_path
from wire.error_codes.catalogue import CATALOGUE
from wire.error_codes.page import PAGE_POLICY, error_index, error_page


@for_each(CATALOGUE)
def test_a_page_has_its_row(code: str) -> None:
    """It loads nothing: no script, picture, style or frame, and no other host."""
    row, page = CATALOGUE[code], error_page(CATALOGUE[code])
    assert f"<h1><code>{code}</code>: " in page
    assert all(str(each) in page for each in row.statuses)
    assert re.findall(r"<(?:script|img|link|iframe|form|base)", page) == []
    assert re.findall(r' (?:src|href)="([^"]+)"', page) == ["/docs/errors"]


def test_pages_of_a_server_with_a_console_lead_back_to_it() -> None:
    """An engine has none; the REST layer has."""
    row = CATALOGUE["internal"]
    links = re.findall(r'href="([^"]+)"', error_page(row, "/console"))
    assert links == ["/docs/errors", "/console"]
    assert error_index("/console").count('href="/console"') == 1


def test_texts_are_escaped() -> None:
    """A text with < does not become an element."""
    row = replace(CATALOGUE["internal"], meaning="a <b> & `<i>`")
    assert "a &lt;b&gt; &amp; <code>&lt;i&gt;</code>" in error_page(row)


def test_the_index_leads_to_each_page() -> None:
    """By the path that problems have as their type."""
    links = re.findall(r'href="([^"]+)"', error_index())
    assert links == [error_path(each) for each in CATALOGUE]


def test_the_policy_allows_a_style_only() -> None:
    """The pages have a style in themselves, and need nothing else."""
    allowed = [each.split()[1:] for each in PAGE_POLICY.split("; ")]
    assert [each for each in allowed if each != ["'none'"]] == [["'unsafe-inline'"]]
