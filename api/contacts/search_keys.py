"""Words as they are looked for: whether letters are large does not count, nor how they are put."""

import unicodedata

MOST_KEY = 128  # letters; an index can't hold more than 2,700 bytes in all


def folded(text: str) -> str:
    """Fold a text, for a key or for what keys begin with."""
    if text.isascii():
        return text.lower()[:MOST_KEY]
    return unicodedata.normalize("NFC", text).casefold()[:MOST_KEY]
