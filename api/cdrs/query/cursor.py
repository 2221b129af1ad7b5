"""A place in a list as text: what a page gives, and the next one is asked with."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from api.cdrs.query.queries import Position
from wire.errors import BadInput

_PLACE = re.compile(rb"([0-9]{1,15})\.([0-9]{1,18})")


def encode(place: Position) -> str:
    """Write a place."""
    return urlsafe_b64encode(b"%d.%d" % place).rstrip(b"=").decode()


def decode(text: str) -> Position:
    """Read a place; raises BadInput."""
    try:
        found = _PLACE.fullmatch(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        found = None
    if found is None:
        raise BadInput("cursor", "expected the nextCursor of a page")
    return int(found[1]), int(found[2])
