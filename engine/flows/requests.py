"""Validates an API request before it is stored: its URL, its body, its variable names."""

from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from engine.calls.flows.templates import fill_decoded, is_name, names
from engine.flows.errors import explain
from wire.decoding.errors import MAX_ERRORS, BadInput, InputErrors
from wire.request import ApiRequest
from wire.tree import Limits, check_url

_RESERVED_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "idempotency-key",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def check_request(document: Any, limits: Limits) -> None:
    """Check an API request with all its secrets. Raises InputErrors."""
    request: ApiRequest | None
    request, faults = explain(document, ApiRequest, "")
    if request is not None:
        faults += islice(_find_faults(request, limits), MAX_ERRORS)
    if faults:
        raise InputErrors(tuple(faults))


def _find_faults(request: ApiRequest, limits: Limits) -> Iterator[BadInput]:
    yield from _check_url(request.url, limits)
    for name in request.headers:
        if name.lower() in _RESERVED_HEADERS:
            yield BadInput(f"headers.{name}", "this header is set by the engine", "reserved")
    for name in request.answers.keys() & {"status", "reason"}:
        yield BadInput(f"answers.{name}", "this name is set by the engine", "reserved")
    if request.json is not None and request.text is not None:
        yield BadInput("text", "not together with json")
    has_body = request.json is not None or request.text is not None
    if has_body and request.method in {"GET", "DELETE"}:
        yield BadInput("method", "a body needs POST, PUT or PATCH")
    yield from _check_names(request)


def _check_url(url: str, limits: Limits) -> Iterator[BadInput]:
    sample = fill_decoded(url, lambda _name: "x").replace(" ", "")
    try:
        host = urlsplit(sample).netloc
        check_url(sample, limits, "url")
    except BadInput as fault:
        yield fault
        return
    except ValueError:
        host = ""
    if not host or not url.split("://", 1)[1].startswith(host):
        yield BadInput("url", "the host must not contain templates", "bad_url")
    elif "@" in host or any(each.isspace() or not each.isprintable() for each in sample):
        yield BadInput("url", "an https:// address is expected", "bad_url")


def _check_names(request: ApiRequest) -> Iterator[BadInput]:
    parts = {
        "url": request.url,
        "headers": request.headers,
        "json": request.json,
        "text": request.text,
    }
    for part, document in parts.items():
        for path, name in names(document):
            where = _join(part, path)
            root, _, secret = name.partition(".")
            if not is_name(name):
                text = f"{{{{{name}}}}} is not a variable name"
                yield BadInput(where, text, "unknown_variable")
            elif root == "secrets" and secret not in request.secrets:
                text = f"no secret {secret}; a stored one is kept only for the same host and port"
                yield BadInput(where, text, "unknown_secret")


def _join(part: str, path: str) -> str:
    if path.startswith("["):
        return part + path
    return f"{part}.{path}" if path else part
