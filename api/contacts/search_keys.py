"""Words as they are looked for: whether letters are large does not count, nor how they are put."""

import unicodedata

MAX_KEY_CHARS = 128  # letters; an index can't hold more than 2,700 bytes in all


def normalize(text: str) -> str:
    """Fold a text, for a key or for what keys begin with."""
    if text.isascii():
        return text.lower()[:MAX_KEY_CHARS]
    return unicodedata.normalize("NFC", text).casefold()[:MAX_KEY_CHARS]
