"""Interface to a tracing system: spans, linked by their call."""

from contextlib import AbstractContextManager
from typing import Protocol

from base.tracing import RequestTraces, Span


class Traces(RequestTraces, Protocol):
    """Creates spans; an engine without tracing has no instance."""

    def link_call(self, call_id: str) -> None:
        """Make the current request the parent of a call's later spans."""

    def start_client_span(self, name: str, call_id: str) -> Span:
        """Start the span of an outgoing request of a call."""

    def client_span(self, name: str, call_id: str) -> AbstractContextManager[Span]:
        """Open such a span as the current one, which `headers` names."""
