"""What a search for a contact's number means."""

import pytest

from api.contacts.contacts.search import number_prefixes
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import e164


@pytest.mark.parametrize(
    ("region", "text"),
    [
        ("RU", "8 (495) 123-45-67"),
        ("RU", "8~10 47 22 22 22 22"),
        ("KZ", "8 (71234) 5 67 89"),
        ("BY", "8 0152 45-09-11"),
        ("TM", "(8 12) 34-56-78"),
        ("HU", "06 30 123 4567"),
        ("AR", "011 15-2345-6789"),
        ("US", "011 47 22 22 22 22"),
        ("AU", "0011 47 22 22 22 22"),
        ("JP", "010 47 22 22 22 22"),
        ("GB", "44 (0)20 7946 0002"),
        ("GB", "tel:+44-20-7946-0003;phone-context=+44"),
    ],
)
def test_a_number_is_found_as_it_was_stored(region: str, text: str) -> None:
    """A whole number is read as a list reads it."""
    assert e164(text, region) in number_prefixes("number", text, region)


@pytest.mark.parametrize(
    ("region", "text", "prefixes"),
    [
        ("NO", "90", ("+90", "+4790")),
        ("NO", "+47 (9)0", ("+4790",)),
        ("NO", "0047", ("+47",)),
        ("DE", "030", ("+49030", "+4930")),
        (None, "4790000001", ("+4790000001",)),
        ("NO", "90000001", ("+90000001", "+4790000001")),
    ],
)
def test_beginnings(region: str | None, text: str, prefixes: tuple[str, ...]) -> None:
    """Without a +, a text is read with a country code, and as a number of the region."""
    assert number_prefixes("number", text, region) == prefixes


@pytest.mark.parametrize("text", ["nine", "47;90", "0", "+"])
def test_what_no_number_begins_with_is_rejected(text: str) -> None:
    """Without a region, none begins with 0: it must not match every contact."""
    with pytest.raises(BadInput):
        number_prefixes("number", text, None)
