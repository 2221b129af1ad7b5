"""Phone numbers with their country's code, as the messaging platform has them, plus or no plus."""

from api.contacts.phone_numbers import InvalidNumber, e164
from wire.errors import BadInput


def international(text: str, path: str) -> str:
    """Read a number as E.164; raises BadInput."""
    try:
        return e164(text if text.lstrip().startswith("+") else f"+{text}", None)
    except InvalidNumber as fault:
        message = f"{fault}; expected a number such as +4721930000"
        raise BadInput(path, message, "impossible_number") from None
