"""The pages in docs that are drawn from the code."""

from tests.harness.generate.diagrams import PAGE, with_diagrams


def test_the_state_diagrams_are_those_of_the_code() -> None:
    """docs/sessions.md shows the tables that the core runs by (`make docs` draws them again)."""
    page = PAGE.read_text()
    assert page.count("stateDiagram-v2") == 3
    assert with_diagrams(page) == page
