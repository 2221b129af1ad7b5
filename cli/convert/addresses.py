"""Addresses of webhooks, audio and bots: completed by that of the document, and checked."""

import re
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from cli.convert.result import Place, Remarks
from wire.decoding import patterns

MAX_ADDRESS = 2048  # of wire.base.Url
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class _Scheme(Struct, frozen=True):
    """The scheme with TLS, the one without, and the pattern of addresses."""

    secure: str
    plain: str
    pattern: str


_WEB = _Scheme("https", "http", patterns.URL)
_WEBSOCKET = _Scheme("wss", "ws", patterns.STREAM_URL)


def resolved(base_url: str, address: str) -> str:
    """Return an address, relative to that of the document if it is known."""
    try:
        return urljoin(base_url, address)
    except ValueError:  # such as https://[
        return address


def resolved_stream(base_url: str, address: str) -> str:
    """Return the address of a websocket; a relative one is on the server of the document."""
    if "://" in address or not base_url:
        return address
    return re.sub(r"^http", "ws", resolved(base_url, address))


def checked_address(place: Place, what: str, text: str, remarks: Remarks) -> str | None:
    """Return an address that engines accept; None with a remark for another one."""
    return _checked(place, what, text, _WEB, remarks)


def stream_address(place: Place, text: str, remarks: Remarks) -> str | None:
    """Return the address of a bot; None with a remark for another one."""
    return _checked(place, "url", text, _WEBSOCKET, remarks)


def _checked(place: Place, what: str, text: str, scheme: _Scheme, remarks: Remarks) -> str | None:
    secure = f"{scheme.secure}://"
    if re.match(r"[a-z]+://[^/?#]*@", text):
        remarks.lose(place, f"{what}: an address has no user and password; requests are signed")
        return None
    if not re.search(scheme.pattern, text) or len(text) > MAX_ADDRESS:
        hint = "" if "://" in text or not text else "; --base-url completes it"
        remarks.lose(place, f"{what}: an absolute {secure} address is required, not {text!r}{hint}")
        return None
    if text.startswith(f"{scheme.plain}://"):
        if urlsplit(text).hostname not in _LOOPBACK:
            remarks.lose(place, f"{what}: engines accept {secure} only, not {text}")
        else:
            remarks.note(place, f"{what}: only {secure} is accepted, but in development")
    return text
