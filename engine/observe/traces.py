"""Interface to a tracing system: spans, linked by their call."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol


class Span(Protocol):
    """An operation in progress."""

    def set_attribute(self, name: str, value: str | int) -> None:
        """Set an attribute."""

    def end(self, error: str = "") -> None:
        """End the span; with an error if the operation failed."""


class Traces(Protocol):
    """Creates spans; an engine without tracing has no instance."""

    def server_span(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Open the span of an incoming request, under the parent in its headers."""

    def link_call(self, call_id: str) -> None:
        """Make the current request the parent of a call's later spans."""

    def start_client_span(self, name: str, call_id: str) -> Span:
        """Start the span of an outgoing request of a call."""

    def client_span(self, name: str, call_id: str) -> AbstractContextManager[Span]:
        """Open such a span as the current one, which `headers` names."""

    def headers(self) -> Mapping[str, str]:
        """Return the W3C trace context headers of the current span."""
