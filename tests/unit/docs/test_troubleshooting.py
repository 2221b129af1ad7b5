"""Each finding of `switchroom doctor` has a page, which leads to what the guides say of it."""

import io
import re
from pathlib import Path

from rich.console import Console

from cli.doctor.command import report
from cli.doctor.result import failure, warning
from tests.harness.each import for_each
from tests.harness.raised_codes import raised_codes
from wire.docs_address import DOCS_URL
from wire.error_codes.catalogue import CATALOGUE, Place

ROOT = Path(__file__).parents[3]
TROUBLESHOOTING = (ROOT / "docs/troubleshooting.md").read_text()


def findings() -> list[str]:
    """Return the codes that the doctor reports."""
    return sorted({each.code for each in raised_codes() if "cli/doctor" in each.place})


@for_each(findings)
def test_a_finding_has_its_heading(code: str) -> None:
    """The link of a warning and of a failure is a heading in a page of the docs."""
    for finding in (warning(code, "a", "b", "c"), failure(code, "a", "b", "c")):
        page, _, anchor = finding.link.removeprefix(f"{DOCS_URL}/").partition("#")
        assert f"\n### `{anchor}`\n" in (ROOT / "docs" / page).read_text()
        assert anchor == code


@for_each(findings)
def test_the_page_of_a_finding_names_the_doctor(code: str) -> None:
    """Among the places where the code appears."""
    assert Place.DOCTOR in CATALOGUE[code].places


def test_each_part_about_the_doctor_belongs_to_a_code() -> None:
    """What the page of troubleshooting says of a topic is linked from a code's page."""
    _, _, part = TROUBLESHOOTING.partition("\n## What doctor reports\n")
    headings = re.findall(r"^### (.+)$", part, re.MULTILINE)
    anchors = {f"troubleshooting.md#{each.lower().replace(' ', '-')}" for each in headings}
    assert anchors <= {each.see for each in CATALOGUE.values()}


def test_the_doctor_prints_the_code_and_the_address() -> None:
    """They follow the advice on a line of its own."""
    finding = failure("store_down", "store", "does not answer", "start it")
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(report([finding]))
    assert f"store_down: {finding.link}" in console.export_text()
