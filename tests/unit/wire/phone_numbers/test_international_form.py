"""Forms of a phone number."""

import pytest

from wire.phone_numbers.e164 import spellings
from wire.phone_numbers.international_form import international


@pytest.mark.parametrize("number", ["+4721930000", "4721930000", "004721930000"])
def test_the_spellings_of_a_number(number: str) -> None:
    """The number as dialled comes first, then the others."""
    found = spellings(number)
    assert found[0] == number
    assert set(found) == {"+4721930000", "4721930000", "004721930000"}


@pytest.mark.parametrize("name", ["sales", "*21#", "+", "47\n"])
def test_a_name_has_one_spelling(name: str) -> None:
    """Also a service code, and text that is no number."""
    assert spellings(name) == (name,)


@pytest.mark.parametrize(
    ("number", "region", "found"),
    [
        ("+4790000001", "", "+4790000001"),
        ("004790000001", "", "+4790000001"),
        ("90000001", "", "90000001"),
        ("4790000001", "", "4790000001"),
        ("90000001", "NO", "+4790000001"),
        ("4790000001", "NO", "+4790000001"),
        ("02079460000", "GB", "+442079460000"),
        ("447911123456", "GB", "+447911123456"),
        ("1001", "NO", "1001"),
        ("0012", "NO", "0012"),
        ("anonymous", "NO", "anonymous"),
        ("90000001\n", "NO", "90000001\n"),
        ("99999999999999999999", "NO", "99999999999999999999"),
        ("90000001", "ZZ", "90000001"),
    ],
)
def test_the_international_form(number: str, region: str, found: str) -> None:
    """Only a number of a known country is changed."""
    assert international(number, region) == found
