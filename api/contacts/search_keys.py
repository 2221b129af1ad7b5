"""Search keys: texts normalized so that case and Unicode form do not matter."""

import unicodedata

MAX_KEY_CHARS = 128  # an index entry has at most 2,700 bytes
_DOTTED_I = "i\u0307"  # what case folding makes of the İ of Turkish
_DOTLESS_I = "\u0131"


def normalize(text: str) -> str:
    """Normalize a text to a key, or to the prefix of keys.

    The letter I with and without a dot is one: whether a large and a small one are the same depends
    on the language.
    """
    if text.isascii():
        return text.lower()[:MAX_KEY_CHARS]
    folded = unicodedata.normalize("NFKD", text).casefold()
    composed = unicodedata.normalize("NFKC", folded)
    return composed.replace(_DOTTED_I, "i").replace(_DOTLESS_I, "i")[:MAX_KEY_CHARS]
