"""Puts an account's secrets back into a logged API request, so that it can be sent again."""

import re
from collections.abc import Callable
from urllib.parse import quote

import msgspec
from msgspec import Struct

from engine.calls.flows.templates import fill_decoded, names
from engine.webhooks.log.logged_attempt import LoggedAttempt
from wire.request import ApiRequest, is_same_origin
from wire.webhook_log import MASK

_NAME = r"secrets\.([A-Za-z_][A-Za-z0-9_]*)"
_IN_TEXT = re.compile(rf"\{{\{{{_NAME}\}}\}}")
_IN_ADDRESS = re.compile(rf"%7B%7B{_NAME}%7D%7D")
# Of every attempt its own: they are made when it is sent.
_OWN_HEADERS = frozenset(
    {
        "traceparent",
        "webhook-id",
        "webhook-timestamp",
        "webhook-url-sha256",
        "webhook-signature",
    }
)


class NotRepeatable(Exception):
    """The log does not have the whole request; says why."""


class RepeatedRequest(Struct, frozen=True):
    """What a retry sends, beside the signature, and the secrets in it."""

    url: str
    headers: dict[str, str]
    body: bytes
    secrets: tuple[str, ...] = ()


def unsigned_headers(attempt: LoggedAttempt) -> dict[str, str]:
    """Return the headers of an attempt, without those that each attempt has of its own."""
    return {
        name: value for name, value in attempt.headers.items() if name.lower() not in _OWN_HEADERS
    }


def refill(attempt: LoggedAttempt, request: ApiRequest) -> RepeatedRequest:
    """Fill in the present secrets of an account's API request; raises NotRepeatable."""
    if not is_same_origin(attempt.url, request.url):
        raise NotRepeatable("the API request has another host or port now, which has its secrets")
    headers = {
        name: _masked_header(name, request) if value == MASK else _filled(value, request, str)
        for name, value in unsigned_headers(attempt).items()
    }
    in_body = _in_json if request.json is not None else str
    body = _filled(attempt.body.decode(), request, in_body).encode()
    url = _IN_ADDRESS.sub(lambda found: quote(_secret(found[1], request), safe=""), attempt.url)
    return RepeatedRequest(url, headers, body, tuple(filter(None, request.secrets.values())))


def _masked_header(name: str, request: ApiRequest) -> str:
    """Return a header that the log does not have, if it depends on secrets only."""
    template = request.headers.get(name)
    if template is None or any(not each.startswith("secrets.") for _, each in names(template)):
        raise NotRepeatable(f"the log does not have the header {name}")
    filled: str = fill_decoded(
        template, lambda each: _secret(each.removeprefix("secrets."), request)
    )
    return filled


def _filled(text: str, request: ApiRequest, written: Callable[[str], str]) -> str:
    return _IN_TEXT.sub(lambda found: written(_secret(found[1], request)), text)


def _in_json(secret: str) -> str:
    """Return a secret as it is within a JSON string."""
    return msgspec.json.encode(secret).decode()[1:-1]


def _secret(name: str, request: ApiRequest) -> str:
    secret = request.secrets.get(name)
    if secret is None:
        raise NotRepeatable(f"the API request has no secret {name} any more")
    return secret
