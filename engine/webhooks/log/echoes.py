"""Removes what a response repeats of a request's secrets, as some servers do in errors."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote, quote_plus

from engine.webhooks.log.header_names import is_secret
from wire.webhook_log import MASK

_MASK = MASK.encode()
_MIN_HEADER_CHARS = 6  # of a value: a shorter one, such as a version of a key, is no secret


def secret_texts(secrets: Iterable[str], headers: Mapping[str, str]) -> tuple[bytes, ...]:
    """Return the texts that no response in the log may contain, the longest first.

    They are the secrets of an API request, as texts, JSON and addresses have them, and the values
    of headers that the log masks: whole, and without the scheme before them (`Bearer`).
    """
    found = {form for secret in secrets for form in _forms(secret)}
    for name, value in headers.items():
        if is_secret(name):
            parts = (value, value.rpartition(" ")[2])
            found |= {each.encode(errors="replace") for each in parts if _is_long(each)}
    return tuple(sorted(filter(None, found), key=len, reverse=True))


def _is_long(value: str) -> bool:
    return len(value) >= _MIN_HEADER_CHARS


def _forms(secret: str) -> Iterator[bytes]:
    """Yield a secret as text, in addresses, in JSON, and in JSON within JSON."""
    yield secret.encode()
    if secret.isascii() and secret.isalnum():
        return
    yield quote(secret, safe="").encode()
    yield quote_plus(secret).encode()
    for once in _in_json(secret):
        yield once.encode()
        for twice in _in_json(once):
            yield twice.encode()


def _in_json(text: str) -> Iterator[str]:
    """Yield a text as a JSON string has it, with and without characters beyond ASCII."""
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", r"\/")


def without_echoes(text: bytes, secrets: Sequence[bytes], *, is_cut: bool) -> bytes:
    """Return a text with a mask for each secret; `is_cut`: it may end within one."""
    if is_cut:
        text = _without_beginning(text, secrets)
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, _MASK)
    return text


def _without_beginning(text: bytes, secrets: Sequence[bytes]) -> bytes:
    """Return a text without the beginning of a secret at its end."""
    for secret in secrets:
        for length in range(min(len(secret) - 1, len(text)), 0, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + _MASK
    return text
