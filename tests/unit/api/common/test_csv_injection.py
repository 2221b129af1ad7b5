"""Customer text in CSV: no cell is a formula, whatever the separator."""

import pytest

from api.common.csv_injection import escape_formula


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("\u00a0@x", "'\u00a0@x"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "'\t'=1"),
        ("Oslo;=1+1", "Oslo;'=1+1"),
        ('Oslo; "=1+1;', "Oslo;' \"=1+1;"),
        ("Oslo\n-1+1", "Oslo\n'-1+1"),
        ("Oslo\r=1", "Oslo\r'=1"),
        ("+4722222222", "+4722222222"),
        ("home; +4722222222; 7", "home; +4722222222; 7"),
        ("Bø; Åse - Oslo", "Bø; Åse - Oslo"),
        ("a=b", "a=b"),
        ("", ""),
        (7, 7),
    ],
)
def test_formulas(given: object, written: object) -> None:
    """Each gets an apostrophe; phone numbers are unchanged."""
    assert escape_formula(given) == written
