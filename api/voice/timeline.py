"""A call's timeline as customers see it: without what is the operator's, such as places of legs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from pydantic.alias_generators import to_camel

from api.voice.views import CallDetails, call_details
from wire.decoding.messages import decode_message
from wire.views import TimelineEntry
from wire.webhook_log import AttemptSummary

# Steps within engines and PBXs.
INTERNAL_EVENTS = frozenset({"clock-changed", "recovered"})
INTERNAL_COMMANDS = frozenset({"prefetch-media", "reset-converter"})
# Where legs and clips are, and the operator's trunks.
INTERNAL_FIELDS = frozenset({
    "account", "clips", "has_sealed_digits", "missed", "pbx_ms", "replaced_app", "replaces",
    "seen_ms", "trunk",
})  # fmt: skip
ENGINE_STEP = {"type": "engine"}  # instead of an internal event that caused something
# Exchanges with servers, flows and audio, which an agent sees without what was exchanged: it may
# have secrets of the account. `FIELDS_FOR_AGENTS` are what is left of them.
EXCHANGES = frozenset({
    "action-failed", "action-received", "api-request-failed", "api-request-succeeded",
    "fetch-media", "flow-node-loaded", "flow-started", "load-flow", "load-flow-node",
    "fork-requested", "media-fetched", "send-api-request", "send-to-stream", "send-webhook",
    "speech-understood", "start-stream", "stream-action-received", "stream-ended",
    "stream-text-requested",
})  # fmt: skip
FIELDS_FOR_AGENTS = frozenset({"type", "request", "stream", "tries", "reason"})
HIDDEN_FROM_AGENTS = frozenset({"music"})  # an address, in other steps


class CallTimelineEntry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An event of a call, the commands that it caused, and the state after it.

    `event` and `commands` have a `type`; `started` is the verb that started, with type and data.
    """

    at_ms: int
    event: dict[str, Any]
    commands: tuple[dict[str, Any], ...]
    state: str
    started: dict[str, Any] | None = None


class CallTimeline(Struct, frozen=True):
    """A call, what happened in it, and the attempts to reach servers for it, the earliest first.

    An attempt's `requestId` is the `request` of commands and events; its `id` is that in the
    webhook log. Without the scope `webhooks` there are none. Of a long call, `omitted` earlier
    moments are left out, which no request gets. An agent's token sees that servers, flows and audio
    were in use, but neither their addresses nor what they sent; of verbs it sees the types.

    A request with `next` as `after` gets the moments and attempts that are new since.
    """

    call: CallDetails  # type: ignore[valid-type]  # a shape that is built at run time
    moments: tuple[CallTimelineEntry, ...]
    attempts: tuple[AttemptSummary, ...]
    omitted: int
    next: str


class _EngineTimeline(Struct, frozen=True):
    call: Raw
    moments: tuple[TimelineEntry, ...]
    attempts: tuple[AttemptSummary, ...] = ()
    omitted: int = 0
    next: str = ""


class _Encoded(Struct, frozen=True):
    """What `CallTimeline` describes, with a call that is encoded already."""

    call: Raw
    moments: tuple[CallTimelineEntry, ...]
    attempts: tuple[AttemptSummary, ...]
    omitted: int
    next: str


def call_timeline(timeline: bytes, *, with_attempts: bool, for_agent: bool = False) -> bytes:
    """Return an engine's timeline of a call as customers see it, or as their agents do."""
    found = decode_message(timeline, _EngineTimeline)
    moments = _moments(found.moments)
    return msgspec.json.encode(
        _Encoded(
            Raw(call_details(bytes(found.call))),
            tuple(map(_for_agent, moments) if for_agent else moments),
            found.attempts if with_attempts else (),
            found.omitted,
            found.next,
        )
    )


def _moments(entries: tuple[TimelineEntry, ...]) -> Iterator[CallTimelineEntry]:
    for each in entries:
        commands = shown_commands(each.commands)
        is_internal = each.event["type"] in INTERNAL_EVENTS
        if not is_internal or commands or each.started:
            event = shown_event(each.event)
            yield CallTimelineEntry(each.at_ms, event, commands, each.state, each.started)


def _for_agent(entry: CallTimelineEntry) -> CallTimelineEntry:
    """Return an entry without what is the account's only."""
    started = entry.started and {"type": entry.started["type"]}
    commands = tuple(map(_fields_for_agent, entry.commands))
    return replace(entry, event=_fields_for_agent(entry.event), commands=commands, started=started)


def _fields_for_agent(fields: dict[str, Any]) -> dict[str, Any]:
    if fields["type"] in EXCHANGES:
        kept = {name: fields[name] for name in fields if name in FIELDS_FOR_AGENTS}
        if "reason" in kept:  # a code, and after it what a server has sent
            kept["reason"] = kept["reason"].partition(":")[0]
        return kept
    return {name: fields[name] for name in fields if name not in HIDDEN_FROM_AGENTS}


def shown_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as customers see it."""
    return ENGINE_STEP if event["type"] in INTERNAL_EVENTS else _shown(event)


def shown_commands(commands: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the commands that customers see."""
    return tuple(_shown(each) for each in commands if each["type"] not in INTERNAL_COMMANDS)


def _shown(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event or command; what is inside them has its published form."""
    return {to_camel(name): fields[name] for name in fields if name not in INTERNAL_FIELDS}
