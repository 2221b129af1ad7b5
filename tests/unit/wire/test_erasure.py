"""A number is found in all forms in which it is written, and no other number is."""

import sys
import unicodedata

import msgspec
import phonenumbers
import pytest
from phonenumbers import PhoneNumberFormat

from tests.harness.each import for_each
from tests.unit.wire.phone_numbers.test_spellings import (
    EXAMPLES,
    international_spellings,
    national_spellings,
)
from wire.erasure import NumberMatcher
from wire.phone_numbers.e164 import canonical

NORWAY = NumberMatcher("+4721930000", "NO")
ABROAD = NumberMatcher("+4721930000", "DE")
UNKNOWN = NumberMatcher("+4721930000")
# Countries from which others are called with 8~10, 0011, 011, 010, 00 and a carrier's code, 1 00.
CALLERS = ("RU", "AU", "US", "JP", "BR", "CO", "FI")
SEPARATORS = (*" \t\n./-\u2013\u202f\u200b+_,:|;'\u2019\u2022", ", ", "&nbsp;", "%20", "%2B", "+-+")
BESIDE = ("{} 2 children", "{}-2.mp3", "1. {}, 2", "1 {} 2", "{}/68", "[2,{}, 2]")
BEHIND = ("{} 12 times", "{}-12.mp3", "{} 10.30", "{}/12/3", "{} 20260102", "{} 200 kr")
SEPARATOR_CATEGORIES = {
    "Zs",
    "Zl",
    "Zp",
    "Pd",
    "Ps",
    "Pe",
    "Po",
    "Pi",
    "Pf",
    "Cf",
    "Cc",
    "Mn",
    "Sm",
}


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
        "tel:21930000;phone-context=+47",
        "?from=%2B47%2021930000",
        '{"to":"\\uff14\\uff1721930000"}',
        "+47\\t219\\n30000",
    ],
)
def test_full_forms(text: str) -> None:
    """They are the number's in every account."""
    assert NORWAY.is_in(text)
    assert ABROAD.is_in(text)
    assert UNKNOWN.is_in(text)


@pytest.mark.parametrize("text", ["21930000", "219 30 000", "(21) 93-00-00"])
def test_national_forms(text: str) -> None:
    """They are the number's in accounts of its country."""
    assert NORWAY.is_in(text)
    assert not ABROAD.is_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "21930001 21930000",
        "21930001\n21930000",
        "2026-10-06 21 93 00 00",
        "12.05 219 30 000",
        "press 1 21930000 2",
        "21930001,21930000,21930002",
        "+47 2026-10-06 21 93 00 00",
        "2026-10-06T12:30:00.123Z 21930000",
        "21930000 2026-01-02 10:30",
        "2 x 21930000",
        "21930000 x12",
        "219 30 000 ext 2",
        "/21930000/2?n=1",
        "?from=%2B4721930000%202",
    ],
)
def test_a_number_beside_other_digits(text: str) -> None:
    """What all of them are is not one number."""
    assert NORWAY.is_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "+47219300001",
        "+4621930000",
        "+46 21 93 00 00",
        "0046 (0)21 93 00 00",
        "+46 21930000, +4721930001",
        "1721930000123",
        "121930000",
        "+472193000",
        "219300\u00b200",
        "21,9300,001",
        "",
    ],
)
def test_other_numbers(text: str) -> None:
    """A number within a longer one is another one."""
    assert not NORWAY.is_in(text)


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        ("+4930123456", "030 123456", True),
        ("+4930123456", "030 123456 78", False),  # a longer number of Berlin
        ("+4930123456", "12 030 123456", True),
        ("+49301234567", "0221 30 12 34 567", False),  # of Cologne
        ("+49301234567", "0221,30,12,34,567", False),
        ("+4930123456", "030 123456, 78", True),  # a list, perhaps
        ("+4930123456", "030 123456 7", True),  # a count, perhaps, or an extension
        ("+4930123456", "030123456 78", True),
        ("+4930123456", "+4930123456-78.mp3", True),
        ("+4930123456", "2 030 123456 78", False),
        ("+4930123456", "3, 030 123456 78 2", False),
        ("+4930123456", "0 3 0 1 2 3 4 5 6 7", False),
        ("+4915123456789", "?phone=0151+2345+6789", True),
        ("+494915123456789", "4915123456789", True),  # also a mobile number
    ],
)
def test_numbers_of_many_lengths(number: str, text: str, expected: bool) -> None:
    """In Germany, what follows may belong to the number."""
    assert NumberMatcher(number, "DE").is_in(text) is expected


@pytest.mark.parametrize(
    ("number", "region", "text"),
    [
        ("+25321360003", "DJ", "21 36 00 03 10.30"),  # +213 60003 1030 is Algerian
        ("+298211234", "FO", "20 12 34 21 12 34"),  # +20 123421 1234 is Egyptian
        ("+919876543210", "IN", "+91 98765 43210 200 rupees"),  # longer, and not valid
    ],
)
def test_digits_that_look_like_another_number(number: str, region: str, text: str) -> None:
    """What they are together by accident does not count."""
    assert NumberMatcher(number, region).is_in(text)


@pytest.mark.parametrize(
    ("number", "region", "text"),
    [
        ("+2521123456", "SO", "7 1123456"),
        ("+5982123", "UY", "2123 1234"),
        ("+3523456", "LU", "27 12 34 56"),
        ("+39212345678", "IT", "+39 02 1234 5678"),
    ],
)
def test_numbers_as_their_country_writes_them(number: str, region: str, text: str) -> None:
    """Their groups are no numbers of others."""
    assert not NumberMatcher(number, region).is_in(text)


@pytest.mark.parametrize(
    ("number", "region", "text"),
    [
        ("+36201234567", "HU", "06201234567"),
        ("+36201234567", "HU", "+3606201234567"),
        ("+36201234567", "HU", "call back 06 20 123 4567"),
        ("+36201234567", "NO", "+36 06 20 123 4567"),
        ("+74951234567", "RU", "84951234567"),
        ("+74951234567", "RU", "+784951234567"),
        ("+375294911911", "BY", "8 029 491-19-11"),
        ("+37061234567", "LT", "8 612 34567"),
        ("+5491123456789", "AR", "011 15-2345-6789"),
        ("+5492966123456", "AR", "02966 15 123456"),
        ("+5511961234567", "BR", "0 15 11 96123-4567"),
        ("+522221234567", "MX", "044 222 123 4567"),
        ("+522221234567", "MX", "+52 1 222 123 4567"),
        ("+12684601234", "AG", "460 1234"),
        ("+447911123456", "IN", "447911123456"),  # also an Indian number
        ("+91447911123456", "IN", "447911123456"),
    ],
)
def test_prefixes_of_countries(number: str, region: str, text: str) -> None:
    """Of trunks, carriers and mobile numbers; a text that may be the number counts."""
    assert NumberMatcher(number, region).is_in(text)
    assert NumberMatcher(number, region).is_in(f"Tel. {text}; later")


@for_each(EXAMPLES, str)
def test_every_spelling_is_found(example: tuple[str, str]) -> None:
    """In a sentence, wherever the account is if the country's code is there."""
    region, full = example
    number = phonenumbers.parse(full)
    at_home, abroad = NumberMatcher(full, region), NumberMatcher(full, "SG")
    for text in national_spellings(number):
        assert at_home.is_in(f"ring {text}, please"), text
    for text in international_spellings(number):
        assert abroad.is_in(f"ring {text}, please"), text


@for_each(EXAMPLES, str)
def test_every_number_is_found_beside_a_digit(example: tuple[str, str]) -> None:
    """Although the digits together may be a valid number, which is written otherwise."""
    region, full = example
    number = phonenumbers.parse(full)
    formats = (PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.NATIONAL)
    shown = (phonenumbers.format_number(number, each) for each in formats)
    matcher = NumberMatcher(full, region)
    for text in (*shown, phonenumbers.national_significant_number(number)):
        for each in BESIDE:
            assert matcher.is_in(each.format(text)), each.format(text)
    for each in (*BESIDE, *BEHIND):
        assert matcher.is_in(each.format(full)), each.format(full)


@for_each(EXAMPLES, str)
def test_every_separator_is_found(example: tuple[str, str]) -> None:
    """Between all digits, as people of the country write them."""
    region, full = example
    shown = phonenumbers.format_number(phonenumbers.parse(full), PhoneNumberFormat.NATIONAL)
    for each in SEPARATORS:
        text = each.join(filter(str.isdigit, shown))
        assert NumberMatcher(full, region).is_in(text), text


@for_each(EXAMPLES, str)
def test_every_number_is_found_as_it_is_called_from_abroad(example: tuple[str, str]) -> None:
    """With the prefix of the account's country."""
    number = phonenumbers.parse(example[1])
    for region in CALLERS:
        text = phonenumbers.format_out_of_country_calling_number(number, region)
        assert NumberMatcher(example[1], region).is_in(f"from {text}"), (region, text)


def test_what_the_reader_takes_as_a_separator_is_one() -> None:
    """All that `GET /cdr?toNumber` finds in a party."""
    chars = [chr(each) for each in range(sys.maxunicode // 17)]
    likely = [each for each in chars if unicodedata.category(each) in SEPARATOR_CATEGORIES]
    texts = [f"+472193{each}0000" for each in (*likely, "\u115f", "\u1160", "\u3164", "\uffa0")]
    read = [text for text in texts if canonical(text, None) == "+4721930000"]
    assert len(read) > len(texts) // 100
    assert [text for text in read if not NORWAY.is_in(text)] == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"from":"+4721930000"}', True),
        (b'{"a":[{"b":"x 21930000"}]}', True),
        (b'{"21930000":1}', True),
        (b'{"v":4721930000}', True),
        (b'{"v":[21930000.0]}', True),
        (b'{"v":4.72193e9}', True),
        (b'{"v":4721930000.5}', False),
        (b'{"v":[4721930001,true,null,1e400]}', False),
        (b'{"durationMs":21930000}', False),
        (b'{"durationMs":"21930000"}', True),
        (b'{"from":"+4721930001"}', False),
        (b'{"from":"+47\\u202f2193\\u202f0000"}', True),
        ('{"from":"\uff12\uff11\uff19\uff130000"}'.encode(), True),
        (b"no JSON +4721930000 \xff", True),
        (b"[" * 100_000 + b"+4721930000", True),
    ],
)
def test_documents(body: bytes, expected: bool) -> None:
    """Texts and whole numbers count, but a duration is no telephone number."""
    assert NORWAY.is_in_json(body) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30", False),
        ("born=2026-11-30", False),
        ("on 2026/11/30 at noon", False),
        ("2026.11.30 12", False),
        ("report_2026_11_30.csv", False),
        ("2026:11:30", False),
        ("+45 2026-11-30", True),
        ("0045 (2026) 1130", True),
        ("20 26 11 30", True),
        ("20.26.11.30", True),
        ("20:26:11:30", True),
        ("20261130", True),
    ],
)
def test_dates(text: str, expected: bool) -> None:
    """As the reader of numbers decides; behind a country's code, they are groups of a number."""
    assert NumberMatcher("+4520261130", "DK").is_in(text) is expected
    is_turned = NumberMatcher("+4530112026", "DK").is_in("30.11.2026, 30/11/2026 or 30. 11. 2026")
    assert not is_turned


def test_an_integer_has_lost_its_first_zero() -> None:
    """As 06201234567 in a spreadsheet has."""
    assert NumberMatcher("+36201234567", "HU").is_in_json(b'{"v":6201234567}')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["+4721930000", 50], True),  # the byte of 50 is the digit 2
        (["+4721930000" + "x" * 41], True),  # so is the one of the text's length
        ([{"v": [4721930000]}], True),
        ([4721930000], False),  # a checksum, or a time
        ([b"+4721930000"], True),
        (["+4721930001", 50], False),
    ],
)
def test_lines_of_logs(value: object, expected: bool) -> None:
    """Their numbers are not texts, and what stands between texts is not one either."""
    assert NORWAY.is_in_msgpack(msgspec.msgpack.encode(value)) is expected


def test_what_is_no_msgpack_is_a_text() -> None:
    """As a lost line is, which is empty."""
    assert NORWAY.is_in_msgpack(b"\xc1 +4721930000")
    assert not NORWAY.is_in_msgpack(b"")


@pytest.mark.parametrize(
    "separators", [")", " ", "(", ") (", "1) ", "+", "+(", "\\", "%2", "\u200b"]
)
def test_many_separators_take_no_long_time(separators: str) -> None:
    """Quadratic time would be longer than this test may take."""
    assert NORWAY.is_in(separators * 100_000 + "x +47 21 93 00 00")
    assert not NORWAY.is_in("1" + separators * 100_000 + "x")


@pytest.mark.parametrize(
    "text", ["21 93 00 01 ", "219300001", "930000 ", "9 3 0 0 0 0 ", "+46 21930000;", "\uff11 "]
)
def test_many_similar_digits_take_no_long_time(text: str) -> None:
    """Each group begins a few texts that may be the number, and each of these is read once."""
    assert not ABROAD.is_in(text * 20_000)


def test_many_different_texts_that_end_as_the_number_does() -> None:
    """So many are not read: the number may well be among them."""
    assert ABROAD.is_in(" ".join(f"{each}21930000" for each in range(100, 20_000)))
