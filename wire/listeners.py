"""Listeners: developers' machines that answer the webhooks of one number or call."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from wire.base import Number, Shape

DEFAULT_TTL_S = 28_800
MAX_TTL_S = 86_400
MAX_RESPONSE_CHARS = 180_000  # more than any webhook's response may have
Fault = Literal["connect", "timeout", "not_http", "too_large", "not_text"]
CallId = Annotated[str, Meta(min_length=1, max_length=128)]
HeaderText = Annotated[str, Meta(max_length=8_192)]
Headers = Annotated[
    dict[Annotated[str, Meta(min_length=1, max_length=256)], HeaderText], Meta(max_length=64)
]


class NewListener(Shape, frozen=True, kw_only=True):
    """What to listen to: a number or a call; and for how long at most."""

    number: Number | None = None
    call_id: CallId | None = None
    ttl_s: Annotated[int, Meta(ge=1, le=MAX_TTL_S)] = DEFAULT_TTL_S


class Listener(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A listener of an account; it ends without a poll for some seconds, or at `untilMs`.

    That of a call has the call's number: the number's route allows listeners, or does not.
    """

    id: str
    account: str
    created_ms: int
    until_ms: int
    number: str
    call_id: str | None = None


class Listeners(Struct, frozen=True):
    """The live listeners of an account."""

    listeners: tuple[Listener, ...]


class ListenerRequest(Struct, frozen=True, rename="camel"):
    """A webhook request as it would be sent to `url`; its response counts until `untilMs`."""

    id: str
    method: str
    url: str
    headers: dict[str, str]
    body: str
    until_ms: int


class ListenerRequests(Struct, frozen=True):
    """Requests after a position, and the next position."""

    requests: tuple[ListenerRequest, ...]
    after: str


class ListenerResponse(Shape, frozen=True, kw_only=True):
    """The response of a listener's server; or why there is none (`fault`)."""

    status: Annotated[int, Meta(ge=200, le=599)] = 200
    headers: Headers = field(default_factory=dict)
    body: Annotated[str, Meta(max_length=MAX_RESPONSE_CHARS)] = ""
    fault: Fault | None = None
