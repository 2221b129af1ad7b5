"""Addresses of customers' servers, sent as they are given.

A server may check a signature of the address, such as that of a temporary link: of `%40` and `@`,
which mean the same (RFC 3986, section 2.3), it has signed one.
"""

from urllib.parse import quote

from yarl import URL

_RESERVED = ":/?#[]@!$&'()*+,;="  # RFC 3986, section 2.2; unreserved characters are always kept


def exact_url(address: str) -> URL:
    """Return an address without a change, but for what no address may contain."""
    parts = address.split("%")
    # A percent sign that begins no escape is one of the text.
    text = parts[0] + "".join(("%" if _is_escape(each) else "%25") + each for each in parts[1:])
    return URL(quote(text, safe=f"{_RESERVED}%"), encoded=True)


def _is_escape(text: str) -> bool:
    return len(text) > 1 and all(each in "0123456789abcdefABCDEF" for each in text[:2])
