"""What a recognizer wrote, as a database stores it."""

import re

# PostgreSQL stores no NUL, no database half of a surrogate pair, and terminals obey the others.
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


def storable(text: str) -> str:
    """Return a text with a space in place of control characters, and none around it."""
    return _UNSTORABLE.sub(" ", text).strip()
