"""Exit statuses: one table, in the code and in the documentation."""

import re
from pathlib import Path

from base.exit_status import ExitStatus
from cli.timeline.outcome import EXIT_STATUSES

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "commands.md"


def test_the_documentation_has_each_status() -> None:
    """The table of the page lists the numbers of `ExitStatus`, and no others."""
    section = PAGE.read_text().partition("## Exit statuses")[2].partition("\n## ")[0]
    listed = [int(number) for number in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert listed == sorted(ExitStatus)


def test_the_result_of_a_call_has_a_status_of_its_own() -> None:
    """A script can tell how a call ended."""
    assert set(EXIT_STATUSES.values()) == {
        ExitStatus.DONE, ExitStatus.NEGATIVE, ExitStatus.BUSY, ExitStatus.NO_ANSWER,
        ExitStatus.CANCELED,
    }  # fmt: skip
