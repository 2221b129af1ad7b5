"""Texts of strangers: printable ones, and the addresses of mail and of servers in them."""

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote, urlsplit

from wire.decoding.errors import BadInput

# Marks and controls of right-to-left scripts that reverse what is beside them (Unicode TR 9).
BIDI_CONTROLS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
# Also ends of lines, and halves of surrogate pairs, which no encoding has.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_WITHOUT_BIDI = dict.fromkeys(BIDI_CONTROLS)


def printable(text: str) -> str:
    """Return a text with a space for control characters, without those that reverse it.

    There are no spaces around it.
    """
    if not text.isprintable():  # few are not
        text = _CONTROLS.sub(" ", text.translate(_WITHOUT_BIDI))
    return text.strip()


_LINK = re.compile(r"mailto:(?://)?", re.IGNORECASE)


def email_address(text: str) -> str:
    """Return the address of a text or of a mailto: link (RFC 6068), without blanks around it."""
    address = text.strip()
    if link := _LINK.match(address):
        return unquote(address[link.end() :].partition("?")[0]).strip()
    return address


def host_and_port(address: str, path: str) -> tuple[str, int | None]:
    """Return the host of an address, and the port if there is one; raises BadInput."""
    try:
        parts = urlsplit(address)
        host, port = _checked_host(parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", None
    if not host or port == 0:
        raise BadInput(path, "expected a host, and a port of 1 to 65535", "bad_url")
    return host, port


def _checked_host(host: str) -> str:
    """Return a host; raises ValueError if it looks like an IP address, but is not a valid one."""
    if ":" in host:
        IPv6Address(host)
    elif host.removesuffix(".").rpartition(".")[2].isdecimal():  # no domain ends so: RFC 3696, 2
        IPv4Address(host.removesuffix("."))
    return host
