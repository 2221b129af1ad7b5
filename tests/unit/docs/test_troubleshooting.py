"""docs/troubleshooting.md has a part for everything that `switchroom doctor` may report."""

import io
import re
from pathlib import Path
from typing import get_args

import pytest
from rich.console import Console

from engine.cli.doctor.command import report
from engine.cli.doctor.result import Topic, failure, warning
from wire.programs.docs_address import DOCS_URL

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("topic", get_args(Topic))
def test_a_finding_has_its_part_of_the_page(topic: Topic) -> None:
    """The link of a warning and of a failure is a heading below the part about the doctor."""
    for finding in (warning(topic, "a", "b", "c"), failure(topic, "a", "b", "c")):
        path, _, anchor = finding.link.partition("#")
        page = (ROOT / "docs" / path.removeprefix(f"{DOCS_URL}/")).read_text()
        _, _, part = page.partition("\n## What doctor reports\n")
        headings = re.findall(r"^### (.+)$", part, re.MULTILINE)
        assert anchor in {each.lower().replace(" ", "-") for each in headings}


def test_the_doctor_prints_the_address() -> None:
    """It follows the advice on a line of its own."""
    finding = failure("store", "store", "does not answer", "start it")
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(report([finding]))
    assert finding.link in console.export_text()
