"""Interface to a tracing system: spans of requests."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol


class Span(Protocol):
    """An operation in progress."""

    def set_name(self, name: str) -> None:
        """Change the name, which may be known only at the end."""

    def set_attribute(self, name: str, value: str | int) -> None:
        """Set an attribute."""

    def end(self, error: str = "") -> None:
        """End the span; with an error if the operation failed."""


class RequestTraces(Protocol):
    """Creates spans of requests; a program without tracing has no instance."""

    def server_span(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Open the span of an incoming request, under the parent in its headers."""

    def headers(self) -> Mapping[str, str]:
        """Return the W3C trace context headers of the current span."""
