"""Parsing of CSV, well formed and malformed."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.common.csv_injection import encode_escaped_csv
from api.contacts.imports.reader.csv_rows import (
    BROKEN,
    MAX_LINES,
    TOO_LONG,
    csv_rows,
    detect_delimiter,
)
from api.contacts.imports.reader.messages import MAX_ROW_CHARS


def read(text: str, delimiter: str = ",") -> list[tuple[int, list[str] | str]]:
    """Return each row's line number, with its cells or its error."""
    rows = csv_rows(io.StringIO(text), delimiter)
    return [(row.line, row.error or row.cells) for row in rows]


def test_cells_may_be_quoted() -> None:
    """With delimiters, quotes and line breaks in them; a row has the number of its first line."""
    text = 'a,"b,""c"""\n"d\ne",f\ng"h,i'
    assert read(text) == [(1, ["a", 'b,"c"']), (2, ["d\ne", "f"]), (4, ['g"h', "i"])]


def test_a_blank_before_a_quoted_cell() -> None:
    """It is no part of the cell, as in most programs that read CSV."""
    (row,) = csv_rows(io.StringIO('+4790000001, "Berg, Nina", "x"\n'), ",")
    assert row.cells == ["+4790000001", "Berg, Nina", "x"]


def test_a_text_that_is_written_as_a_formula() -> None:
    """Programs write it so that Excel keeps the digits of a number."""
    text = '="+4790000001","=""0047 90"" ""x""",="",=1+1,="a"b\n'
    (row,) = csv_rows(io.StringIO(text), ",")
    assert row.cells == ["+4790000001", '0047 90" "x', "", "=1+1", '="a"b']


@given(
    st.lists(
        st.lists(st.text(alphabet="=+-@'\";,\t a1\uff1d", min_size=1, max_size=8), min_size=2),
        min_size=1,
    )
)
def test_our_own_files_are_read_as_they_were(rows: list[list[str]]) -> None:
    """Formulas were escaped for spreadsheets; a list that is exported and imported is the same."""
    text = encode_escaped_csv(rows).decode()
    read_back = [row.cells for row in csv_rows(io.StringIO(text, newline=None), ",")]
    expected = [[*map(str.strip, row)] for row in rows if any(map(str.strip, row))]
    assert [[*map(str.strip, row)] for row in read_back] == expected


def test_formulas_of_our_own_files() -> None:
    """With and without quotes; an apostrophe of a name stays."""
    text = '\'=1+1,\'t Veld,\'+4790000001,\'\'@x\n"\'=1,5","\'=""x""",O\'Brien,"a;\'=2"\n'
    first, second = csv_rows(io.StringIO(text), ",")
    assert first.cells == ["=1+1", "'t Veld", "'+4790000001", "'@x"]
    assert second.cells == ["=1,5", '="x"', "O'Brien", "a;=2"]


def test_a_quote_that_is_never_closed_costs_one_line() -> None:
    """Also at the end of the file, and before many lines."""
    rest = [f"{number},x" for number in range(2 * MAX_LINES)]
    found = read("\n".join(['a,"b', *rest, '"c']))
    assert found[0] == (1, BROKEN)
    assert found[-1] == (2 * MAX_LINES + 2, BROKEN)
    assert found[1:-1] == [(line, each.split(",")) for line, each in enumerate(rest, 2)]


def test_a_row_has_a_maximum_length() -> None:
    """A longer one is one rejected row, and the next line is the next row."""
    assert read("x" * 3 * MAX_ROW_CHARS + "\na,b\n") == [(1, TOO_LONG), (2, ["a", "b"])]
    assert read("x" * MAX_ROW_CHARS + "\n")[0][1] == TOO_LONG
    (row,) = csv_rows(io.StringIO("x" * (MAX_ROW_CHARS + 1)), ",")
    assert row.cells == ["x" * 80]
    assert read("x" * (MAX_ROW_CHARS - 1) + "\n")[0][1] == ["x" * (MAX_ROW_CHARS - 1)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_detected(delimiter: str) -> None:
    """By rows with the same number of cells; a comma if there is no evidence."""
    assert detect_delimiter(f"a{delimiter}b\n1,5{delimiter}2;5\n") == delimiter
    for line in (f"sep={delimiter}", f'"sep={delimiter}"', f'"sep={delimiter}";;'):
        assert detect_delimiter(f"{line}\na,b;c\n") == delimiter
        assert [each.cells for each in csv_rows(io.StringIO(f"{line}\na\n"), delimiter)] == [["a"]]
    assert detect_delimiter("Phone\n+4790000001\n") == ","


@given(st.text(alphabet='ab",\n', max_size=60))
def test_parsing_always_ends(text: str) -> None:
    """Rows are in order, and no line is in two of them."""
    lines = [line for line, _ in read(text)]
    assert lines == sorted(set(lines))
