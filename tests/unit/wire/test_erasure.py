"""A number is found in all forms in which it is written, and no other number is."""

import pytest

from wire.erasure import NumberMatcher

NORWAY = NumberMatcher("+4721930000", "47", is_national=True)
ABROAD = NumberMatcher("+4721930000", "47")


@pytest.mark.parametrize(
    "text",
    [
        "+4721930000",
        "4721930000",
        "004721930000",
        "sip:+4721930000@sbc.example.com",
        "*31*+4721930000#",
        "+47 219 30 000",
        "+47 (0) 21 93 00 00",
        "call +4721930000, please",
        "tel:+47-2193-0000",
    ],
)
def test_full_forms(text: str) -> None:
    """They are the number's in every account."""
    assert NORWAY.is_in(text)
    assert ABROAD.is_in(text)


@pytest.mark.parametrize("text", ["21930000", "219 30 000", "(21) 93-00-00"])
def test_national_forms(text: str) -> None:
    """They are the number's in accounts of its country."""
    assert NORWAY.is_in(text)
    assert not ABROAD.is_in(text)


@pytest.mark.parametrize(
    "text", ["+47219300001", "+4621930000", "1721930000123", "121930000", "+472193000", ""]
)
def test_other_numbers(text: str) -> None:
    """A number within a longer one is another one."""
    assert not NORWAY.is_in(text)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"from":"+4721930000"}', True),
        (b'{"a":[{"b":"x 21930000"}]}', True),
        (b'{"21930000":1}', True),
        (b'{"durationMs":21930000}', False),
        (b'{"from":"+4721930001"}', False),
        (b"no JSON +4721930000 \xff", True),
    ],
)
def test_documents(body: bytes, expected: bool) -> None:
    """Texts count, numbers do not: a duration is no telephone number."""
    assert NORWAY.is_in_json(body) is expected
