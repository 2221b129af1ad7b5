"""Customer text in CSV: no cell is a formula, whatever the separator."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.common.csv_injection import (
    decode_escaped_csv,
    encode_escaped_csv,
    escape_formula,
    unescape_formula,
)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("\u00a0@x", "'\u00a0@x"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "'\t'=1"),
        (";\t=1", ";\t'=1"),
        ("Oslo;=1+1", "Oslo;'=1+1"),
        ('Oslo; "=1+1;', "Oslo; \"'=1+1;"),
        ("a =1", "a =1"),
        ("a ;=1", "a ;'=1"),
        ("Oslo\n-1+1", "Oslo\n'-1+1"),
        ("Oslo\r=1", "Oslo\r'=1"),
        ("+4722222222", "+4722222222"),
        ("home; +4722222222; 7", "home; +4722222222; 7"),
        ("Bø; Åse - Oslo", "Bø; Åse - Oslo"),
        ("'=1+1", "''=1+1"),
        (" '=1+1", "' '=1+1"),
        ("Oslo;'=1+1", "Oslo;''=1+1"),
        ("'t Veld", "'t Veld"),
        ("a=b", "a=b"),
        ("", ""),
        (7, 7),
    ],
)
def test_formulas(given: object, written: object) -> None:
    """Each gets an apostrophe; phone numbers are unchanged."""
    assert escape_formula(given) == written


@given(st.text(alphabet="=+-@';\" \t\r\na1\uff1d", max_size=12))
@example("'+4722222222")
@example("; '+4722222222")
@example(" \r+\u00a0@")
def test_an_escaped_text_is_taken_back(text: str) -> None:
    """An export that is imported again has the texts that it was made of."""
    assert unescape_formula(escape_formula(text)) == text
    assert decode_escaped_csv(encode_escaped_csv([[text, "a"]]).decode()) == [[text, "a"]]


@pytest.mark.parametrize("text", ["'t Veld", "'+4722222222", "Rock 'n' Roll; 'x'", "O'Brien", "'"])
def test_other_apostrophes_stay(text: str) -> None:
    """They belong to the text of a file of another program."""
    assert unescape_formula(text) == text


@pytest.mark.parametrize("text", ["\t", "; ", '"', ";\t1"])
def test_many_separators_take_no_long_time(text: str) -> None:
    """Quadratic time would be longer than this test may take."""
    given = "x" + text * 300_000
    assert escape_formula(given) == given
