"""What browsers may load and send from a page of the console: nothing of another host."""

from collections.abc import Sequence

_SELF_ONLY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
)


def content_policy(websockets: Sequence[str] = ()) -> str:
    """Return the Content-Security-Policy of a page that may open these websockets."""
    connect = " ".join(("connect-src 'self'", *websockets))
    return "; ".join((*_SELF_ONLY, connect))
