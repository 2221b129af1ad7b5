"""Types of numbers that cost more than others, which an account may call only if it is allowed to.

Premium, shared-cost and personal numbers are those of the countries' numbering plans, as
`phonenumbers` has them. The ranges below are ours.
"""

from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumberType

from wire.dial_policy import NumberType

_TYPES: dict[int, NumberType] = {
    PhoneNumberType.PREMIUM_RATE: "premium",
    PhoneNumberType.SHARED_COST: "shared_cost",
    PhoneNumberType.PERSONAL_NUMBER: "personal",
}
MIN_LENGTH = 6  # of a number with its plus sign and country code
# Codes without a country (ITU-T E.164, annex to Operational Bulletin 1117).
_GLOBAL: dict[str, NumberType] = {
    "+808": "shared_cost",
    "+870": "satellite",  # Inmarsat
    "+878": "personal",
    "+881": "satellite",  # Iridium, Globalstar
    "+882": "satellite",  # international networks, also at sea and in aircraft
    "+883": "satellite",
    "+979": "premium",  # international premium rate
}
# Where calls of hijacked accounts end most often (CFCA, i3forum): small networks that share the
# revenue of incoming calls, and countries that an American caller takes for home.
_CARIBBEAN = (
    242, 246, 264, 268, 284, 345, 441, 473, 649, 658, 664, 721, 758, 767, 784, 809, 829, 849, 868,
    869, 876,
)  # fmt: skip
_OTHERS = (
    53, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229, 231, 232, 235, 236, 237, 238, 239, 240,
    242, 243, 244, 245, 246, 247, 248, 252, 253, 257, 258, 260, 261, 263, 265, 267, 268, 269, 290,
    291, 500, 509, 592, 597, 670, 672, 674, 675, 676, 677, 678, 681, 682, 683, 685, 686, 687, 688,
    689, 690, 691, 692, 850, 960,
)  # fmt: skip
_HIGH_RISK = tuple([f"+1{each}" for each in _CARIBBEAN] + [f"+{each}" for each in _OTHERS])


def high_risk_range(number: str) -> str:
    """Return the high-risk range that a full number is in; empty: none."""
    if not number.startswith(_HIGH_RISK):  # ten times as fast, and nearly always so
        return ""
    return next((each for each in _HIGH_RISK if number.startswith(each)), "")


@lru_cache(maxsize=8_192)
def costly_type(number: str) -> NumberType | None:
    """Return the type of a full number, if it is one that costs more; not `high_risk`."""
    if found := _GLOBAL.get(number[:4]):
        return found
    kind = _type_of(number)
    if kind != PhoneNumberType.UNKNOWN:
        return _TYPES.get(kind)
    kinds = (_TYPES.get(_type_of(each)) for each in valid_beginnings(number))
    return next(filter(None, kinds), None)


@lru_cache(maxsize=8_192)
def valid_beginnings(number: str) -> tuple[str, ...]:
    """Return the valid numbers that a full number begins with, if it is not valid itself.

    Switches ignore digits after the end of a number: what such a number begins with is called.
    """
    if _type_of(number) != PhoneNumberType.UNKNOWN:
        return ()
    beginnings = (number[:end] for end in range(len(number) - 1, MIN_LENGTH, -1))
    return tuple(each for each in beginnings if _type_of(each) != PhoneNumberType.UNKNOWN)


def _type_of(number: str) -> int:
    """Return the type of a number by its country's plan; UNKNOWN for none of the plan."""
    try:
        return phonenumbers.number_type(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return PhoneNumberType.UNKNOWN
