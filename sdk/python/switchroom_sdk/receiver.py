"""What the helpers for web frameworks have in common: requests verified, actions returned.

A signature is of one address, so a server with a secret needs its public URL, too: the `Host` of a
request is what its sender wrote. Without a secret only requests from this machine are
accepted, which is enough to try the lab.
"""

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple, get_type_hints

import msgspec

from switchroom_sdk.bodies import Body, UnexpectedBody, parse_as
from switchroom_sdk.chain import Chain, absolute, resolved
from switchroom_sdk.errors import SwitchroomError, VerificationFailed
from switchroom_sdk.verification import Verifier

SECRET_VARIABLE = "SWITCHROOM_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
PUBLIC_URL_VARIABLE = "SWITCHROOM_PUBLIC_URL"
MAX_BODY_BYTES = 1_048_576
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
_POSITIONAL = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
_log = logging.getLogger("switchroom_sdk")

Handler = Callable[..., Any]


class Reply(NamedTuple):
    """The response to a request: JSON, or nothing."""

    status: int
    body: bytes = b""


class Receiver:
    """Verifies and parses requests, and writes what a handler returns."""

    def __init__(
        self,
        secret: str | Sequence[str] | None = None,
        public_url: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        if secret == "":
            raise SwitchroomError("secret: it is empty; without signatures, () is expected")
        secrets = environ.get(SECRET_VARIABLE, "").split() if secret is None else secret
        self._verifier = Verifier(secrets) if secrets else None
        self._public_url = public_url or environ.get(PUBLIC_URL_VARIABLE)
        if self._verifier is not None and not self._public_url:
            raise SwitchroomError(f"public_url: {PUBLIC_URL_VARIABLE} is required with a secret")
        if self._verifier is None:
            text = "%s is not set: signatures are not verified, and only this machine is served"
            _log.warning(text, SECRET_VARIABLE)

    def read(
        self, kind: Any, body: bytes, headers: Mapping[str, str], peer: str, target: str
    ) -> Body:
        """Return the body of a request; raises VerificationFailed.

        `target` is its path and query as they came, which are below the public URL.
        """
        if self._verifier is not None and self._public_url:
            self._verifier.verify(body, headers, _url(self._public_url, target))
        elif not _is_local(headers, peer):
            raise VerificationFailed(f"only this machine is served: set {SECRET_VARIABLE}")
        found: Body = parse_as(body, kind)
        return found

    def reply(self, action: Any, base_url: str) -> Reply:
        """Return the response for what a handler returned: a chain, an address, or None."""
        base = self._public_url or base_url
        match action:
            case None:
                return Reply(204)
            case str():
                return Reply(200, msgspec.json.encode(absolute(action, base)))
            case Chain():
                return Reply(200, msgspec.json.encode(resolved(action, base)))
            case _:
                name = type(action).__name__
                raise TypeError(f"a handler returns a verb, an address or None, not {name}")


def rejection(error: VerificationFailed) -> Reply:
    """Return the response to a request that is not served."""
    status = 400 if isinstance(error, UnexpectedBody) else 401
    return Reply(status, msgspec.json.encode({"detail": str(error)}))


class Expected(NamedTuple):
    """What a handler expects: a type of body, and perhaps the framework's request."""

    body: Any
    has_request: bool

    def arguments(self, body: Body, request: Any) -> tuple[Any, ...]:
        """Return the arguments of the handler."""
        return (body, request) if self.has_request else (body,)


def expected_of(handler: Handler) -> Expected:
    """Return what a handler's parameters say; without a type it gets any body."""
    parameters = inspect.signature(handler).parameters
    names = list(parameters)
    are_positional = all(each.kind in _POSITIONAL for each in parameters.values())
    if len(names) not in {1, 2} or not are_positional:
        raise TypeError(
            f"{handler.__name__}: one parameter is expected, the body, or two, the body and the"
            " framework's request"
        )
    return Expected(get_type_hints(handler).get(names[0], Body), len(names) > 1)


def _url(public_url: str, target: str) -> str:
    if not target.startswith("/"):  # it could name another host
        raise VerificationFailed("the request's target is no path")
    return public_url.rstrip("/") + target


def _is_local(headers: Mapping[str, str], peer: str) -> bool:
    names = {name.lower() for name in headers}
    try:
        return ip_address(peer).is_loopback and not names.intersection(_FORWARDED)
    except ValueError:
        return False
