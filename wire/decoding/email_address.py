"""Reads e-mail addresses as people write them, wherever the platform is given one."""

import re
from urllib.parse import unquote

_LINK = re.compile(r"mailto:(?://)?", re.IGNORECASE)


def email_address(text: str) -> str:
    """Return the address of a text or of a mailto: link (RFC 6068), without blanks around it."""
    address = text.strip()
    if link := _LINK.match(address):
        return unquote(address[link.end() :].partition("?")[0]).strip()
    return address
