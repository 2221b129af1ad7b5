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
        ("GB", "+44 (0)2", ("+4402", "+442")),
        ("DE", "0151/123", ("+490151123", "+49151123")),
        ("RU", "8 (916) 123", ("+8916123", "+78916123", "+7916123")),
        ("RU", "8~10 47", ("+81047", "+47", "+781047", "+71047")),
        ("HU", "06 20 123", ("+360620123", "+36620123", "+3620123")),
        ("US", "1 212", ("+1212", "+11212")),
        ("US", "011 47", ("+47", "+101147", "+11147")),
        ("US", "0111212", ("+1212", "+10111212", "+1111212")),
        ("AR", "011 15-23", ("+540111523", "+54111523")),
        ("AG", "4641234", ("+4641234", "+14641234", "+12684641234")),
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
