"""Phone numbers with a country code; as on the messaging platform, the plus sign is optional."""

from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import e164, normalized
from wire.phone_numbers.written_number import InvalidNumber, is_plain


def international(text: str, path: str) -> str:
    """Convert a number to E.164; raises BadInput."""
    try:
        return e164(text if text.lstrip().startswith(("+", "00")) else f"+{text.strip()}", None)
    except InvalidNumber as error:
        message = f"{error}; expected a number such as +4721930000"
        raise BadInput(path, message, "impossible_number") from None


def international_or_as_given(text: str, path: str) -> str:
    """Convert a number to E.164, if it is valid; only the platform knows its short numbers.

    Raises BadInput for a text that is not a number.
    """
    try:
        return international(text, path)
    except BadInput:
        if not is_plain(digits := normalized(text)):
            raise
        return digits
