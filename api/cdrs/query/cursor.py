"""The cursor of a list: the position of the last row of a page, as text."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from api.cdrs.query.queries import Position
from wire.decoding.errors import BadInput

_POSITION = re.compile(rb"([0-9]{1,15})\.([0-9]{1,18})")


def encode(position: Position) -> str:
    return urlsafe_b64encode(b"%d.%d" % position).rstrip(b"=").decode()


def decode(text: str) -> Position:
    """Return the position in a cursor; raises BadInput."""
    try:
        found = _POSITION.fullmatch(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        found = None
    if found is None:
        raise BadInput("cursor", "expected the nextCursor of a page")
    return int(found[1]), int(found[2])
