"""What the engine tells a tracing system: spans, tied together by the call that they are about."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol


class Span(Protocol):
    """Something that takes time and is under way."""

    def set_attribute(self, name: str, value: str | int) -> None:
        """Say more of it."""

    def end(self, fault: str = "") -> None:
        """End it; with a fault when it did not go well."""


class Traces(Protocol):
    """Where spans go; an engine without tracing has none of this, and does nothing for it."""

    def server_span(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Open the span of a request from outside, under the one that its headers name."""

    def link_call(self, call_id: str) -> None:
        """Let what a call does from now on stand under the request that is being served."""

    def start_client_span(self, name: str, call_id: str) -> Span:
        """Begin the span of something that a call asks of others."""

    def client_span(self, name: str, call_id: str) -> AbstractContextManager[Span]:
        """Open such a span, for `headers` to name while it is open."""

    def headers(self) -> Mapping[str, str]:
        """Give what tells others under which span they are asked (W3C trace context)."""
