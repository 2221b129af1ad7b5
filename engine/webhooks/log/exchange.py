"""One attempt as it was made: the request, the response, and what the request is about."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from engine.webhooks.log.echoes import repeats_digits
from wire.webhook_log import MASK, AttemptKind

MAX_REQUEST_BYTES = 8_192  # of a body that is logged; a longer one cannot be repeated
MAX_RESPONSE_BYTES = 2_048


class ShownRequest(Struct, frozen=True):
    """The parts of a request as the log shows them, if it contains secrets."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Subject(Struct, frozen=True):
    """What a request is about, for the log.

    `sensitive` are digits that no log may contain; `shown` is the request without its `secrets`,
    which a response may repeat.
    """

    account: str
    kind: AttemptKind
    request_id: str
    api_request: str = ""  # the id of the stored API request
    retry_of: str = ""
    first: int = 1  # the number of the first attempt
    sensitive: str = ""
    shown: ShownRequest | None = None
    secrets: tuple[str, ...] = ()


class Sent(Struct, frozen=True):
    """A request as it was sent, to its address or to a listener in its place."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    is_to_listener: bool = False


class ResponseHead(Protocol):
    """The first part of a response."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


class Received:
    """What has arrived of a response; `status` is 0 before it begins."""

    __slots__ = ("body", "headers", "status")

    def __init__(self) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.body = bytearray()

    def begin(self, response: ResponseHead) -> None:
        self.status, self.headers = response.status, response.headers


class Exchange(Struct, frozen=True):
    """One attempt, with bodies as long as the log needs; `reason` is empty if it succeeded.

    `detail` says what is wrong, such as the field of an invalid verb.
    """

    subject: Subject
    number: int
    at_ms: int
    took_ms: int
    sent: Sent
    is_request_cut: bool
    status: int
    reason: str
    response_headers: Mapping[str, str]
    response_body: bytes
    is_response_cut: bool
    detail: str = ""


def exchange(  # noqa: PLR0913, PLR0917 - what there is to record
    subject: Subject,
    number: int,
    at_ms: int,
    took_ms: int,
    sent: Sent,
    received: Received,
    reason: str,
    detail: str = "",
) -> Exchange:
    """Return an attempt; long bodies are cut, since many attempts may wait to be stored.

    Of a response that repeats sensitive digits there is nothing.
    """
    is_request_cut = len(sent.body) > MAX_REQUEST_BYTES
    text = received.body.decode(errors="replace") if subject.sensitive else ""
    response = MASK.encode() if repeats_digits(text, subject.sensitive) else received.body
    return Exchange(
        subject,
        number,
        at_ms,
        took_ms,
        replace(sent, body=sent.body[:MAX_REQUEST_BYTES]) if is_request_cut else sent,
        is_request_cut,
        received.status,
        reason,
        received.headers,
        bytes(response[:MAX_RESPONSE_BYTES]),
        len(received.body) > MAX_RESPONSE_BYTES,
        detail,
    )


class AttemptLog(Protocol):
    """Records attempts; adding one is quick, and never fails."""

    def add(self, exchange: Exchange) -> None:
        """Record an attempt."""


class NoLog:
    """Records nothing."""

    def add(self, exchange: Exchange) -> None:
        del exchange


NO_LOG = NoLog()
