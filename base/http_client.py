"""For requests over HTTP: words for failures, and addresses that are sent as they are given.

Class names of libraries are never reported.
"""

import errno
from urllib.parse import quote

from aiohttp import (
    ClientConnectionResetError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientOSError,
    ClientPayloadError,
    ClientSSLError,
    ServerConnectionError,
)
from yarl import URL

_WORDS = {
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "unreachable",
    errno.ENETUNREACH: "unreachable",
}


def failure_word(error: Exception) -> str:
    """Return why a request failed: `dns`, `tls`, `refused`, `timeout`, …."""
    match error:
        case TimeoutError():
            return "timeout"
        case ClientConnectorDNSError():
            return "dns"
        case ClientSSLError():
            return "tls"
        case ClientConnectorError():
            return _WORDS.get(error.os_error.errno or 0, "unreachable")
        case ClientOSError() | ClientConnectionResetError():
            return "reset"
        case ServerConnectionError():
            return "closed"
        case ClientPayloadError():
            return "truncated"
        case _:
            return "no HTTP response"


_RESERVED = ":/?#[]@!$&'()*+,;="  # RFC 3986, section 2.2; unreserved characters are always kept


def exact_url(address: str) -> URL:
    """Return an address without a change, but for what no address may contain."""
    parts = address.split("%")
    # A percent sign that begins no escape is one of the text.
    text = parts[0] + "".join(("%" if _is_escape(each) else "%25") + each for each in parts[1:])
    return URL(quote(text, safe=f"{_RESERVED}%"), encoded=True)


def _is_escape(text: str) -> bool:
    return len(text) > 1 and all(each in "0123456789abcdefABCDEF" for each in text[:2])
