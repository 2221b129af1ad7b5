"""Phone numbers as people write them, in the one form that is kept: E.164."""

import re

import phonenumbers

from wire.errors import BadInput

_BETWEEN = re.compile(r"[ ().\-]")
_DIGITS = re.compile(r"\+?[0-9]{4,20}")


def e164(text: str, path: str) -> str:
    """Read an international number, with or without its plus; raises BadInput."""
    digits = _BETWEEN.sub("", text)
    if _DIGITS.fullmatch(digits):
        try:
            number = phonenumbers.parse(f"+{digits.removeprefix('+')}")
        except phonenumbers.NumberParseException:
            number = None
        if number is not None and phonenumbers.is_possible_number(number):
            return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    message = "expected a phone number with its country's code, such as +4721930000"
    raise BadInput(path, message, "impossible_number")
