"""Fills in and sends stored API requests, and reads values from their responses.

Filled-in values are never logged or reported: they may contain secrets.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from engine.calls.flows.templates import Lookup, fill_decoded, to_text
from engine.calls.flows.variables import MAX_VARIABLE_CHARS
from engine.webhooks.errors import Attempt, AttemptFailed, WebhookFailed
from engine.webhooks.http_client import OutgoingRequest, SessionLookup, WebhookSender
from engine.webhooks.log.exchange import NO_LOG, AttemptLog, ShownRequest, Subject
from engine.webhooks.response import HttpResponse, read_body
from engine.webhooks.signatures import Signer
from wire.decoding.errors import BadInput
from wire.decoding.json_errors import read_json
from wire.flow import Scalar
from wire.request import ApiRequest

CONNECT_TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 65_536  # of a response
_MAX_REQUEST_BYTES = 262_144
_INTEGERS = range(-(2**63), 2**64)  # what MessagePack can hold


class ApiResponse(Struct, frozen=True):
    """The status, the values of the request's `answers`, and all attempts."""

    status: int
    values: dict[str, Scalar | None]
    attempts: tuple[Attempt, ...]


class ApiSender:
    """Sends API requests, at most twice, with the same idempotency key."""

    def __init__(
        self,
        session_of: SessionLookup,
        clock: Callable[[], float],
        random: Callable[[], float],
        *,
        trace: Callable[[], Mapping[str, str]] = dict,
        log: AttemptLog = NO_LOG,
    ) -> None:
        self._sender = WebhookSender(session_of, clock, random, CONNECT_TIMEOUT_S, log)
        self._clock = clock
        self._trace = trace

    async def send(
        self, request: ApiRequest, values: Lookup, subject: Subject, signer: Signer
    ) -> ApiResponse:
        """Fill a request in, sign and send it; raises WebhookFailed.

        The subject's request id is the idempotency key.
        """
        try:
            outgoing = self._outgoing(request, values, subject, signer)
        except (BadInput, ValueError):
            raise WebhookFailed("bad_request", "the request cannot be filled in", ()) from None
        read = partial(_read, request)
        (status, answers), attempts = await self._sender.send(
            outgoing, read, request.timeout_ms / 1000
        )
        return ApiResponse(status, answers, attempts)

    def _outgoing(
        self, request: ApiRequest, values: Lookup, subject: Subject, signer: Signer
    ) -> OutgoingRequest:
        filled, kind = _fill(request, _with_secrets(request, values))
        if request.secrets:
            shown, _ = _fill(request, _with_secret_names(values))
            secrets = tuple(filter(None, request.secrets.values()))
            subject = replace(subject, shown=shown, secrets=secrets)
        key, body = subject.request_id, filled.body
        unsigned = {
            "Accept": "application/json",
            **({"Content-Type": kind} if kind else {}),
            **filled.headers,
            "Accept-Encoding": "identity",
            "Idempotency-Key": key,
            **self._trace(),
        }

        def headers() -> Mapping[str, str]:
            return {**unsigned, **signer.headers(key, self._clock(), body or b"", filled.url)}

        return OutgoingRequest(request.method, filled.url, headers, subject, body)


def _fill(request: ApiRequest, values: Lookup) -> tuple[ShownRequest, str]:
    """Return a request with its templates filled in, and its content type."""
    url = fill_decoded(request.url, lambda name: quote(to_text(values(name)), safe=""))
    body, kind = _body(request, values)
    filled = fill_decoded(request.headers, values)  # together: there may be 32 of them
    headers = {name: _header(each) for name, each in filled.items()}
    return ShownRequest(url, headers, body), kind


def _with_secret_names(values: Lookup) -> Lookup:
    """Return a lookup in which a secret is its own template: what the log shows."""

    def value(name: str) -> Any:
        return f"{{{{{name}}}}}" if name.startswith("secrets.") else values(name)

    return value


def _with_secrets(request: ApiRequest, values: Lookup) -> Lookup:
    def value(name: str) -> Any:
        root, _, secret = name.partition(".")
        return request.secrets.get(secret) if root == "secrets" else values(name)

    return value


def _body(request: ApiRequest, values: Lookup) -> tuple[bytes | None, str]:
    if request.text is not None:
        text = fill_decoded(request.text, values, max_bytes=_MAX_REQUEST_BYTES)
        body, kind = text.encode(), "text/plain; charset=utf-8"
    elif request.json is not None:
        filled = fill_decoded(request.json, values, typed=True, max_bytes=_MAX_REQUEST_BYTES)
        body, kind = msgspec.json.encode(filled), "application/json"
    else:
        return None, ""
    if len(body) > _MAX_REQUEST_BYTES:
        raise BadInput("", f"larger than {_MAX_REQUEST_BYTES} bytes", "too_large")
    return body, kind


def _header(text: str) -> str:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in text):  # noqa: PLR2004 - controls
        raise BadInput("headers", "a control character")
    return text


async def _read(
    request: ApiRequest, response: HttpResponse, received: bytearray
) -> tuple[int, dict[str, Scalar | None]]:
    await read_body(response, received, MAX_RESPONSE_BYTES)
    if not request.answers:
        return response.status, {}
    try:
        document = read_json(bytes(received))
    except BadInput:
        raise AttemptFailed("not_json", "the body is not JSON") from None
    return response.status, {
        name: _value(resolve_pointer(document, pointer))
        for name, pointer in request.answers.items()
    }


def _value(found: Any) -> Scalar | None:
    if isinstance(found, (dict, list)):
        raise AttemptFailed("not_a_value", "an object or a list where a value was expected")
    if isinstance(found, str) and len(found) > MAX_VARIABLE_CHARS:
        raise AttemptFailed(
            "value_too_large", f"a value of more than {MAX_VARIABLE_CHARS} characters"
        )
    if isinstance(found, int) and found not in _INTEGERS:
        return str(found)
    return found  # type: ignore[no-any-return]  # the remaining JSON types


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Return the value at a pointer; None when it does not exist."""
    for step in pointer.split("/")[1:]:
        document = _child(document, step.replace("~1", "/").replace("~0", "~"))
    return document


def _child(document: Any, step: str) -> Any:
    match document:
        case dict():
            return document.get(step)
        case list() if step.isascii() and step.isdecimal() and step == str(int(step)):
            index = int(step)
            return document[index] if index < len(document) else None
        case _:
            return None
