"""Makes rows of the moments of a call, as one kind of reader may see them; pure.

An agent sees parties, sessions and audio, but no row with what servers, flows and bots exchange: it
may have secrets of the account. What is within engines is an operator's.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

from msgspec.structs import replace

from base.timeline import faults, wording
from base.timeline.commands import command_row
from base.timeline.events import event_rows
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from base.timeline.timers import Moment, timer_name
from wire.views import Lifeline, RowKind, TimelineRow
from wire.webhook_log import AttemptSummary

Reader = Literal["agent", "account", "operator"]  # each sees what the one before does, and more
EXCHANGES = frozenset({
    "action-failed", "action-received", "api-request-failed", "api-request-succeeded",
    "fetch-media", "flow-node-loaded", "flow-started", "load-flow", "load-flow-node",
    "fork-requested", "media-fetched", "send-api-request", "send-to-stream", "send-webhook",
    "speech-understood", "start-stream", "stream-action-received", "stream-ended",
    "started", "stream-text-requested",
})  # fmt: skip
OF_OPERATORS = frozenset({"clock-changed", "prefetch-media", "reset-converter"})
# Where legs and clips are, and the operator's trunks.
FIELDS_OF_OPERATORS = frozenset({
    "account", "clips", "has_sealed_digits", "missed", "pbx_ms", "replaced_app", "replaces",
    "seen_ms", "trunk",
})  # fmt: skip
FIELDS_OF_ACCOUNTS = frozenset({"music"})  # an address
_VERBLESS = {"awaiting-instructions", "ending", "ended", "archiving-recordings"}
_KIND_ORDER = ("engine", "leg", "stream", "server")


class TimelineRows:
    """The rows of a call for one reader; the state goes on from moment to moment."""

    def __init__(self, state: TimelineState, reader: Reader = "operator") -> None:
        self.state = state
        self._reader = reader

    def of_moment(self, moment: Moment) -> Iterator[TimelineRow]:
        """Yield the rows of a moment: what happened, what it stopped, started and caused."""
        for row, kind, fields in self._of_moment(moment):
            placed = self.placed(row, moment.at_ms)
            if placed is not None and self._sees(kind):
                yield replace(placed, details=visible_fields(fields, self._reader))
        self.state.call_state = moment.state

    def of_end(self, status: str, reason: str, at_ms: int) -> Iterator[TimelineRow]:
        """Yield the row of the end of the call."""
        kind: RowKind = "success" if status == "completed" else "failure"
        fault = faults.of_end(reason, self.state)
        if row := self.placed(mark(f"call ended: {status}", ENGINE, kind, fault), at_ms):
            yield row

    def of_attempts(self, attempts: Iterable[AttemptSummary]) -> Iterator[TimelineRow]:
        """Yield rows of status callbacks and of requests that were repeated by hand, by time."""
        for each in sorted(attempts, key=lambda attempt: attempt.at_ms):
            if each.kind != "callback" and each.retry_of is None:
                continue  # the call has rows of the request and its response
            name = f"status callback {each.request_id.rpartition('.')[2]}"
            what = f"retry of {each.retry_of}" if each.retry_of else name
            has_failed = each.outcome == "failed"
            result = each.reason if has_failed else each.status or "delivered"
            kind: RowKind = "failure" if has_failed else "web" if each.retry_of else "faint"
            lifeline = self.state.server_lifeline(wording.host(each.url))
            text = f"{what}: {result} in {each.took_ms} ms"
            row = arrow(text, ENGINE, lifeline, kind, request=each.request_id, attempt=each.id)
            yield replace(row, at_ms=each.at_ms)

    def lifelines(self) -> tuple[Lifeline, ...]:
        """Return the lifelines so far; agents see who takes part, but no addresses."""
        found = sorted(self.state.lifelines.values(), key=lambda each: _KIND_ORDER.index(each.kind))
        if self._reader != "agent":
            return tuple(found)
        return tuple(
            replace(each, label="bot") if each.kind == "stream" else each
            for each in found
            if each.kind != "server"
        )

    def _of_moment(
        self, moment: Moment
    ) -> Iterator[tuple[TimelineRow | None, str, Mapping[str, Any]]]:
        """Yield the rows, with the type and the fields of what they are of."""
        state, event = self.state, moment.event
        state.gather_reason = _gather_reason(moment)
        state.timer = timer_name(moment, state)
        if moment.state in _VERBLESS:
            state.end(ENGINE, "verb")
        for row in event_rows(event, state):
            yield row, event["type"], event
        for command in moment.commands:
            if command["type"] == "stop-playback":  # of the verb before
                yield command_row(command, moment.state, state), "stop-playback", command
        verb = ""
        if moment.started is not None:
            verb = wording.action(moment.started)
            state.begin(ENGINE, "verb", moment.started["type"])
            yield mark(verb, kind="success"), "started", moment.started
        for command in moment.commands:
            if command["type"] != "stop-playback":
                row = command_row(command, moment.state, state)
                if row is None or row.text != verb:
                    yield row, command["type"], command.get("event", command)
        if _starts_to_gather(moment, state):
            yield (
                mark(f"gather: waiting for {_awaited(moment)}", kind="digit"),
                event["type"],
                event,
            )

    def placed(self, row: TimelineRow | None, at_ms: int) -> TimelineRow | None:
        """Return a row on its lifelines, with the spans that begin and end with it."""
        state = self.state
        begins, ends = tuple(state.begun), tuple(state.over)
        state.begun, state.over = [], []
        if row is None:
            if not (begins or ends):
                return None
            row = mark("")
        if row.fault:
            state.known_faults.add(row.fault.code)
        return replace(
            row,
            at_ms=at_ms,
            from_=state.lifeline(row.from_),
            to=state.lifeline(row.to),
            joined=tuple(map(state.lifeline, row.joined)),
            begins=begins,
            ends=ends,
        )

    def _sees(self, kind: str) -> bool:
        match self._reader:
            case "operator":
                return True
            case "account":
                return kind not in OF_OPERATORS
            case "agent":
                return kind not in OF_OPERATORS | EXCHANGES


def visible_fields(fields: Mapping[str, Any], reader: Reader) -> dict[str, Any]:
    """Return the fields that a reader sees; what is inside them has its published form."""
    match reader:
        case "operator":
            hidden: frozenset[str] = frozenset()
        case "account":
            hidden = FIELDS_OF_OPERATORS
        case "agent":
            hidden = FIELDS_OF_OPERATORS | FIELDS_OF_ACCOUNTS
    return {_camel(name): fields[name] for name in fields if name not in hidden}


@cache
def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(map(str.capitalize, rest))


def _gather_reason(moment: Moment) -> str:
    """Return the reason of a gather that ended at this moment; empty: none did."""
    events = (each["event"] for each in moment.commands if each["type"] == "emit-event")
    return next((each["reason"] for each in events if each["event"] == "gathered"), "")


def _starts_to_gather(moment: Moment, state: TimelineState) -> bool:
    """Return whether a gather without a prompt starts here: it has no command."""
    starts = moment.state == "gathering" and state.call_state != "gathering"
    return starts and not any(each["type"] == "fetch-media" for each in moment.commands)


def _awaited(moment: Moment) -> str:
    """Return what a gather that starts here collects."""
    data = (moment.started or {}).get("data", {})
    return " or ".join(data.get("input", ["digits"]))
