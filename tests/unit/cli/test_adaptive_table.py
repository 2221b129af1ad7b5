"""Tables in a terminal of any width."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from api.accounts.store import Account
from cli.adaptive_table import AdaptiveTable
from cli.database.account import COLUMNS, row_of
from cli.output import rows_shown

ACCOUNT = Account(
    "acct_0123456789abcdef", "Acme of Norway", region="NO", destinations=("+47", "+46", "sip:"),
    denied=("+1876",), max_calls=20, max_live_legs=40, keep_records_days=90,
)  # fmt: skip
WORDS = st.text(st.sampled_from("ab x"), max_size=40).map(str.strip)


def printed(table: object, width: int) -> list[str]:
    """Return the lines of a table in a terminal of some width, without spaces at their ends."""
    out = io.StringIO()
    Console(width=width, file=out, highlight=False, markup=False).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_table_that_fits_has_a_line_for_each_row() -> None:
    """Headings first; a cell may have a style."""
    table = AdaptiveTable(("id", "new calls"), [("a", Text("yes")), ("bb", "no")])
    assert printed(table, 40) == ["id  new calls", "a   yes", "bb  no"]


def test_wide_values_take_several_lines() -> None:
    """As long as each column keeps a width that can be read."""
    table = AdaptiveTable(("id", "name"), [("abc", "one two three four five")])
    assert printed(table, 20) == ["id   name", "abc  one two three", "     four five"]


def test_in_a_narrow_terminal_a_row_is_a_block() -> None:
    """A line for each value that there is, with its heading; rows are apart."""
    rows = [("abc", "one two three", ""), ("d", "", "four five six")]
    assert printed(AdaptiveTable(("id", "name", "more"), rows), 20) == [
        "id    abc", "name  one two three", "", "id    d", "more  four five six",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_accounts_can_be_read_in_each_terminal(width: int) -> None:
    """No line is longer than the terminal, and neither id nor number is broken."""
    (table,) = rows_shown([row_of(ACCOUNT)], COLUMNS, "").items
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert {ACCOUNT.id, "Acme", "+47", "+1876", "sip:", "20", "40", "live", "90"} <= {*words}


@example([("", "a" * 11, ""), ("a" * 25, "", "a" * 11)], 50)  # the gaps do not fit
@example([("", "a" * 21, ""), ("a" * 22, "", "a" * 22)], 50)  # columns are narrowed to the least
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(50, 120))
def test_no_text_is_lost(rows: list[tuple[str, str, str]], width: int) -> None:
    """Each letter of each cell is shown, wherever lines are broken."""
    lines = printed(AdaptiveTable(("i", "j", "k"), rows), width)
    shown = "".join(lines).replace(" ", "")
    assert all(shown.count(char) == str(rows).count(char) for char in "abx")
