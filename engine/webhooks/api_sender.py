"""API requests on their way: filled in, sent, and their answer's fields read off.

What they were filled with is told to nobody: a secret may be anywhere in it.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
from aiohttp import ClientResponse, ClientSession
from msgspec import Struct
from yarl import URL

from engine.calls.flows.templates import Values, filled, text
from engine.calls.flows.variables import MOST_CHARS
from engine.webhooks.errors import Attempt, Fault, WebhookFailed
from engine.webhooks.http_client import Outgoing, Sender
from engine.webhooks.json_pointer import pointed_at
from engine.webhooks.response import read_body
from wire.errors import BadInput
from wire.flow import Scalar
from wire.request import ApiRequest

CONNECT_S = 5.0
MOST_BYTES = 65_536  # of an answer
_MOST_SENT_BYTES = 262_144
_INTEGERS = range(-(2**63), 2**64)  # what MessagePack can hold


class ApiAnswer(Struct, frozen=True):
    """What an API request brought: the status, the values of its `answers`, and all tries."""

    status: int
    values: dict[str, Scalar | None]
    attempts: tuple[Attempt, ...]


class ApiSender:
    """Sends API requests, at most twice, with the same key; the session guards addresses."""

    def __init__(
        self,
        session: ClientSession,
        clock: Callable[[], float],
        random: Callable[[], float],
        *,
        trace: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._sender = Sender(session, clock, random, CONNECT_S)
        self._trace = trace

    async def send(self, request: ApiRequest, values: Values, key: str) -> ApiAnswer:
        """Fill a request in and send it; raises WebhookFailed."""
        try:
            outgoing = self._outgoing(request, _with_secrets(request, values), key)
        except (BadInput, ValueError):
            raise WebhookFailed("bad_request", "it can't be filled in", ()) from None
        read = partial(_read, request)
        (status, found), attempts = await self._sender.send(
            outgoing, read, request.timeout_ms / 1000
        )
        return ApiAnswer(status, found, attempts)

    def _outgoing(self, request: ApiRequest, values: Values, key: str) -> Outgoing:
        url = filled(request.url, lambda name: quote(text(values(name)), safe=""))
        body, kind = _body(request, values)
        headers = {
            "Accept": "application/json",
            **({"Content-Type": kind} if kind else {}),
            **{name: _header(filled(each, values)) for name, each in request.headers.items()},
            "Accept-Encoding": "identity",
            "Idempotency-Key": key,
            **self._trace(),
        }
        return Outgoing(request.method, URL(url, encoded=True), lambda: headers, body)


def _with_secrets(request: ApiRequest, values: Values) -> Values:
    def value(name: str) -> Any:
        root, _, secret = name.partition(".")
        return request.secrets.get(secret) if root == "secrets" else values(name)

    return value


def _body(request: ApiRequest, values: Values) -> tuple[bytes | None, str]:
    if request.text is not None:
        body, kind = filled(request.text, values).encode(), "text/plain; charset=utf-8"
    elif request.json is not None:
        body = msgspec.json.encode(filled(request.json, values, typed=True))
        kind = "application/json"
    else:
        return None, ""
    if len(body) > _MOST_SENT_BYTES:
        raise BadInput("", f"larger than {_MOST_SENT_BYTES} bytes", "too_large")
    return body, kind


def _header(given: str) -> str:
    if any(ord(each) < 0x20 or ord(each) == 0x7F for each in given):  # noqa: PLR2004 - controls
        raise BadInput("headers", "a control character")
    return given


async def _read(
    request: ApiRequest, response: ClientResponse
) -> tuple[int, dict[str, Scalar | None]]:
    body = await read_body(response, MOST_BYTES)
    if not request.answers:
        return response.status, {}
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Fault("not_json", "the body is not JSON") from None
    return response.status, {
        name: _value(pointed_at(document, pointer)) for name, pointer in request.answers.items()
    }


def _value(found: Any) -> Scalar | None:
    if isinstance(found, (dict, list)):
        raise Fault("not_a_value", "an object or a list where a value was expected")
    if isinstance(found, str) and len(found) > MOST_CHARS:
        raise Fault("value_too_large", f"a value of more than {MOST_CHARS} characters")
    if isinstance(found, int) and found not in _INTEGERS:
        return str(found)
    return found  # type: ignore[no-any-return]  # what is left of JSON
