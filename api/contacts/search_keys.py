"""Search keys: texts normalized so that case and Unicode form do not matter."""

import unicodedata

MAX_KEY_CHARS = 128  # an index entry has at most 2,700 bytes


def normalize(text: str) -> str:
    """Normalize a text to a key, or to the prefix of keys."""
    if text.isascii():
        return text.lower()[:MAX_KEY_CHARS]
    return unicodedata.normalize("NFC", text).casefold()[:MAX_KEY_CHARS]
