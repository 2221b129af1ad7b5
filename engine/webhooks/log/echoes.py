"""Which headers are secret, and what a response repeats of a request's secrets.

Some servers do so in errors.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, quote_plus

from wire.phone_numbers.visible_text import decoded, digits_in
from wire.webhook_log import MASK

_TAG = re.compile("<[^<>]*>")  # of SSML, between digits that are spoken slowly
_MIN_HEADER_CHARS = 6  # of a value: a shorter one, such as a version of a key, is no secret


def secret_texts(secrets: Iterable[str], headers: Mapping[str, str]) -> list[str]:
    """Return the texts that no response in the log may contain, the longest first.

    They are the secrets of an API request, as texts, JSON and addresses have them, and the values
    of headers that the log masks: whole, and without the scheme before them (`Bearer`).
    """
    found = [form for secret in secrets if secret for form in _forms(secret)]
    for name, value in headers.items():
        if is_secret(name) and len(value) >= _MIN_HEADER_CHARS:
            found.append(value)
            if " " in value and len(part := value.rpartition(" ")[2]) >= _MIN_HEADER_CHARS:
                found.append(part)
    if len(found) > 1:
        found.sort(key=len, reverse=True)  # one may be the beginning of another
    return found


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as text, in addresses, in JSON, and in JSON within JSON."""
    yield secret
    if secret.isascii() and secret.isalnum():
        return
    yield quote(secret, safe="")
    yield quote_plus(secret)
    for once in _in_json(secret):
        yield once
        yield from _in_json(once)


def _in_json(text: str) -> Iterator[str]:
    """Yield a text as a JSON string has it, with and without characters beyond ASCII."""
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", r"\/")


def without_echoes(text: str, secrets: Sequence[str]) -> str:
    """Return a text with a mask for each secret."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def body_without_echoes(body: bytes, secrets: Sequence[str], *, is_cut: bool) -> bytes:
    """Return a body with a mask for each secret; `is_cut`: it may end within one."""
    encoded = [each.encode(errors="replace") for each in secrets]
    if is_cut and (length := max((_overlap(body, each) for each in encoded), default=0)):
        body = body[:-length] + MASK.encode()
    for secret in encoded:
        if secret in body:
            body = body.replace(secret, MASK.encode())
    return body


def repeats_digits(text: str, keys: str) -> bool:
    """Return whether a text has the digits of a gather, whatever separates them.

    The text may have ended within them: more than half of them at its end count.
    """
    digits = digits_in(keys)
    if not digits:
        return bool(keys) and keys in text
    forms = (form for each in decoded(text) for form in (each, _TAG.sub("", each)))
    found = map(digits_in, forms)
    return any(digits in each or 2 * _overlap(each, digits) > len(digits) for each in found)


def _overlap(body: bytes, secret: bytes) -> int:
    """Return how many bytes of a secret are at the end of a body, from its first one on."""
    lengths = range(min(len(secret), len(body)), 0, -1)
    return next((each for each in lengths if body.endswith(secret[:each])), 0)


RESPONSE_HEADERS = frozenset({
    "content-type", "content-length", "content-encoding", "date", "location", "retry-after",
    "server", "traceparent", "www-authenticate", "x-request-id",
})  # fmt: skip
MAX_NAMES = 1_000  # of headers, whose treatment is remembered
_SECRET_NAME = re.compile(
    r"auth|cookie|credential|key|passw|secret|session|sha256|signature|token", re.IGNORECASE
)
_SHOWN_NAMES = frozenset({"idempotency-key"})  # of those that look like a secret


@lru_cache(MAX_NAMES)
def is_secret(header: str) -> bool:
    """Return whether a header's value is masked, judging by its name."""
    return header.lower() not in _SHOWN_NAMES and _SECRET_NAME.search(header) is not None


@lru_cache(MAX_NAMES)
def is_kept(header: str) -> bool:
    """Return whether the log has this header of a response."""
    return header.lower() in RESPONSE_HEADERS
