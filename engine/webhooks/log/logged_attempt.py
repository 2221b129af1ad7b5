"""An attempt as it is stored: without signatures, secrets and sensitive digits, and short.

A request with secrets has their templates instead (`{{secrets.token}}`), which a retry fills in.
"""

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.webhooks.log.echoes import (
    body_without_echoes,
    is_kept,
    is_secret,
    repeats_digits,
    secret_texts,
    without_echoes,
)
from engine.webhooks.log.exchange import Exchange, Subject
from wire.call_id_format import call_of
from wire.webhook_log import (
    MASK,
    AttemptKind,
    AttemptOutcome,
    AttemptSummary,
    AttemptView,
    LoggedText,
)

MAX_HEADER_CHARS = 500  # of a logged value
MAX_DETAIL_CHARS = 500
_SECRET_MARKS = ("{{secrets.", "%7B%7Bsecrets.")  # in a text, and in an address


class LoggedAttempt(Struct, frozen=True, array_like=True):
    """The stored form; new fields go to the end, with a default."""

    at_ms: int
    kind: AttemptKind
    request_id: str
    number: int
    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    status: int
    reason: str
    took_ms: int
    response_headers: dict[str, str]
    response_body: bytes
    is_request_cut: bool = False
    is_response_cut: bool = False
    is_repeatable: bool = True
    api_request: str = ""
    retry_of: str = ""
    is_to_listener: bool = False
    detail: str = ""

    @property
    def outcome(self) -> AttemptOutcome:
        return "failed" if self.reason else "succeeded"

    @property
    def call_id(self) -> str | None:
        return call_of(self.request_id)

    def summary(self, entry_id: str) -> AttemptSummary:
        return AttemptSummary(
            id=entry_id,
            at_ms=self.at_ms,
            kind=self.kind,
            request_id=self.request_id,
            attempt=self.number,
            call_id=self.call_id,
            method=self.method,
            url=self.url,
            status=self.status,
            took_ms=self.took_ms,
            outcome=self.outcome,
            reason=self.reason,
            retry_of=self.retry_of or None,
            to_listener=self.is_to_listener,
        )

    def view(self, entry_id: str) -> AttemptView:
        summary = self.summary(entry_id)
        return AttemptView(
            **{name: getattr(summary, name) for name in summary.__struct_fields__},
            request_headers=self.headers,
            request_body=_text(self.body, is_cut=self.is_request_cut),
            response_headers=self.response_headers,
            response_body=_text(self.response_body, is_cut=self.is_response_cut),
            detail=self.detail,
        )


def logged(exchange: Exchange) -> LoggedAttempt:
    """Return what the log contains of an attempt."""
    subject, shown = exchange.subject, exchange.subject.shown
    sent = exchange.sent
    url, headers, body = sent.url, sent.headers, sent.body
    if shown is not None:
        url, headers, body = shown.url, {**headers, **shown.headers}, shown.body or b""
    if subject.sensitive:
        body = _without_digits(body, subject.sensitive)
    secrets = secret_texts(subject.secrets, sent.headers)
    return LoggedAttempt(
        at_ms=exchange.at_ms,
        kind=subject.kind,
        request_id=subject.request_id,
        number=exchange.number,
        method=sent.method,
        url=url,
        headers=_request_headers(headers),
        body=body,
        status=exchange.status,
        reason=exchange.reason,
        took_ms=exchange.took_ms,
        response_headers=_response_headers(exchange.response_headers, subject.sensitive, secrets),
        response_body=body_without_echoes(
            exchange.response_body, secrets, is_cut=exchange.is_response_cut
        ),
        is_request_cut=exchange.is_request_cut,
        is_response_cut=exchange.is_response_cut,
        is_repeatable=_is_repeatable(exchange, subject),
        api_request=subject.api_request,
        retry_of=subject.retry_of,
        is_to_listener=sent.is_to_listener,
        detail=_detail(exchange.detail, subject.sensitive, secrets),
    )


def _is_repeatable(exchange: Exchange, subject: Subject) -> bool:
    """Return whether a retry can send the same request again."""
    if subject.sensitive or exchange.is_request_cut:
        return False
    if subject.shown is None:
        return True
    sent = exchange.sent
    values = sent.headers.values()
    # Text of a caller that looks like the template of a secret must not become one.
    texts = (sent.url, sent.body.decode(errors="replace"), *values)
    has_mark = any(mark in text for text in texts for mark in _SECRET_MARKS)
    return not has_mark and max(map(len, values)) <= MAX_HEADER_CHARS


def _request_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: MASK if is_secret(name) else value[:MAX_HEADER_CHARS]
        for name, value in headers.items()
    }


def _response_headers(
    headers: Mapping[str, str], sensitive: str, secrets: Sequence[str]
) -> dict[str, str]:
    return {
        name: MASK if repeats_digits(value, sensitive) else _header_text(value, secrets)
        for name, value in headers.items()
        if is_kept(name)
    }


def _detail(detail: str, sensitive: str, secrets: Sequence[str]) -> str:
    """Return what is wrong; it may quote the response."""
    if repeats_digits(detail, sensitive):
        return MASK
    return without_echoes(detail, secrets)[:MAX_DETAIL_CHARS]


def _header_text(value: str, secrets: Sequence[str]) -> str:
    return _as_text(without_echoes(value, secrets)[:MAX_HEADER_CHARS])


def _as_text(value: str) -> str:
    """Return a header as it can be encoded: aiohttp reads bytes beyond UTF-8 as surrogates."""
    if value.isascii():
        return value
    return value.encode(errors="surrogateescape").decode(errors="replace")


def _without_digits(body: bytes, digits: str) -> bytes:
    """Return a gather's result without its digits."""
    return body.replace(b'"dtmf":"%b"' % digits.encode(), b'"dtmf":"%b"' % MASK.encode())


def _text(body: bytes, *, is_cut: bool) -> LoggedText:
    return LoggedText(body.decode(errors="replace"), is_cut)


DICTIONARIES = Path(__file__).parent
_DICTIONARY = 1  # its number is the first byte of an attempt
_LEVEL = 3  # 6 saves two per cent and costs a third more CPU
# A window of 4 KB and small tables: they are copied for each attempt, which costs less than to
# fill new ones with the dictionary. A code of its own would cost an attempt more than it saves.
_WINDOW, _MEMORY_LEVEL, _STRATEGY = -12, 4, zlib.Z_FIXED
_dictionary = (DICTIONARIES / f"dictionary-{_DICTIONARY}.bin").read_bytes()
_deflate = zlib.compressobj(
    _LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY_LEVEL, _STRATEGY, zdict=_dictionary
)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LoggedAttempt).decode
_HEAD = bytes([_DICTIONARY])


def compress(attempt: LoggedAttempt) -> bytes:
    """Return an attempt as it is stored."""
    deflate = _deflate.copy()
    return _HEAD + deflate.compress(_encode(attempt)) + deflate.flush()


def decompress(stored: bytes) -> LoggedAttempt | None:
    """Return a stored attempt; None if a later version stored it in another form."""
    if not stored.startswith(_HEAD):
        return None
    try:
        inflate = zlib.decompressobj(_WINDOW, zdict=_dictionary)
        return _decode(inflate.decompress(stored[len(_HEAD) :]))
    except (zlib.error, msgspec.DecodeError):
        return None
