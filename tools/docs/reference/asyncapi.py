"""The AsyncAPI document: event streams and requests to customers' servers, from the shapes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.json import schema_components

from api.webhooks.schemas import AttemptItem
from tools.docs.reference.event_texts import FAMILIES
from tools.docs.reference.events import example
from tools.docs.reference.webhook_texts import BODIES
from wire.events.call_events import CallEvent
from wire.events.consumer_groups import LostEvents
from wire.openapi.document import complete, info
from wire.verbs import Action
from wire.webhooks import ActionRequest, GatherResult, RecordResult, StreamResult

VERSION = "3.0.0"
_JSON = "application/json"
_BINDING = "0.3.0"
_RESULTS = (GatherResult, RecordResult, StreamResult)
_SHAPES = (CallEvent, AttemptItem, LostEvents, ActionRequest, *_RESULTS, Action)
_FOUND, _COMPONENTS = schema_components(_SHAPES, ref_template="#/components/schemas/{name}")
_SCHEMAS = dict(zip(map(repr, _SHAPES), _FOUND, strict=True))
_TEXT = {"type": "string"}
_KINDS = tuple(kind for family in FAMILIES.values() for kind in family.events)
_ACTIONS = {
    "action": ActionRequest,
    "gather": GatherResult,
    "record": RecordResult,
    "stream": StreamResult,
}
_CALLBACK = "A call event, until the response is a 2xx."
_POSITION = "Continues after the event with this `id`; without it, the next event is the first."


class _Stream(NamedTuple):
    """A stream of server-sent events."""

    server: str
    address: str
    text: str
    query: tuple[str, ...]
    messages: tuple[str, ...]


_STREAMS = {
    "accountEvents": _Stream(
        "rest", "/srmain/voice/events", "The call events of an account.", (), (*_KINDS, "lost")
    ),
    "webhookAttempts": _Stream(
        "rest", "/srmain/voice/webhooks/events", "Attempts to reach an account's servers.",
        (), ("attempt",),
    ),
    "engineEvents": _Stream(
        "engine", "/rpc/v1/events", "The call events of all accounts, for operators.",
        ("account", "callId"), (*_KINDS, "lostEvents"),
    ),
}  # fmt: skip


def asyncapi_document() -> dict[str, Any]:
    """Return the document; its operations are those of Switchroom, which sends all messages."""
    return {
        "asyncapi": VERSION,
        "info": _info(),
        "defaultContentType": _JSON,
        "servers": _servers(),
        "channels": {**{n: _stream_channel(e) for n, e in _STREAMS.items()}, **_url_channels()},
        "operations": {**{n: _stream(n, e) for n, e in _STREAMS.items()}, **_requests()},
        "components": {"messages": dict(_messages()), "schemas": _schemas()},
    }


def _info() -> dict[str, Any]:
    text = "Streams of server-sent events, and requests to customers' servers."
    found = info("Switchroom events", text)
    return {**found, "license": {"name": found["license"]["name"]}}


def _servers() -> dict[str, Any]:
    return {
        "rest": {
            "host": "voice.example.com", "protocol": "https",
            "description": "The REST layer; the header `Authorization` has a key of an account.",
        },
        "engine": {
            "host": "engine1.internal:8070", "protocol": "http",
            "description": "The RPC of any engine; `Authorization` is `Bearer` and its token.",
        },
    }  # fmt: skip


def _stream_channel(stream: _Stream) -> dict[str, Any]:
    return {
        "address": stream.address,
        "description": stream.text,
        "servers": [{"$ref": f"#/servers/{stream.server}"}],
        "messages": {each: {"$ref": f"#/components/messages/{each}"} for each in stream.messages},
    }


def _stream(name: str, stream: _Stream) -> dict[str, Any]:
    query = {"type": "object", "properties": dict.fromkeys(stream.query, _TEXT)}
    binding = {"method": "GET", "bindingVersion": _BINDING}
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{name}"},
        "summary": stream.text,
        "description": f"Server-sent events. The request's header `Last-Event-ID`: {_POSITION}",
        "bindings": {"http": {**binding, "query": query} if stream.query else binding},
    }


def _url_channels() -> dict[str, Any]:
    """Return the channels whose address is a customer's."""
    names = (*(f"{each}Request" for each in _ACTIONS), "nextAction")
    messages = {name: {"$ref": f"#/components/messages/{name}"} for name in names}
    kinds = {kind: {"$ref": f"#/components/messages/{kind}"} for kind in _KINDS}
    return {
        "actionWebhook": {
            "address": None,
            "description": "The address in `action` of a verb, a route or a new call.",
            "messages": messages,
        },
        "statusCallback": {
            "address": None,
            "description": "The `statusCallbackUrl` of a call, or else the account's target.",
            "messages": kinds,
        },
    }


def _requests() -> dict[str, Any]:
    post = {"http": {"method": "POST", "bindingVersion": _BINDING}}
    webhook = {"$ref": "#/channels/actionWebhook"}
    actions = {
        f"{name}Webhook": {
            "action": "send",
            "channel": webhook,
            "summary": f"Sent when {BODIES[name].brief}.",
            "messages": [{"$ref": f"#/channels/actionWebhook/messages/{name}Request"}],
            "reply": {
                "channel": webhook,
                "messages": [{"$ref": "#/channels/actionWebhook/messages/nextAction"}],
            },
            "bindings": post,
        }
        for name in _ACTIONS
    }
    callback = {"action": "send", "channel": {"$ref": "#/channels/statusCallback"},
                "summary": _CALLBACK, "bindings": post}  # fmt: skip
    return {**actions, "statusCallback": callback}


def _messages() -> Iterator[tuple[str, dict[str, Any]]]:
    event = _SCHEMAS[repr(CallEvent)]
    for family in FAMILIES.values():
        for kind, each in family.events.items():
            of_kind = {"type": "object", "properties": {"event": {"const": kind}}}
            found = _message(kind, each.when, {"allOf": [event, of_kind]})
            if example(family)["event"] == kind:
                found["examples"] = [{"name": kind, "payload": example(family)}]
            yield kind, found
    yield (
        "attempt",
        _message("attempt", "An attempt to reach a server.", _SCHEMAS[repr(AttemptItem)]),
    )
    nothing = {"type": "object", "maxProperties": 0}
    yield "lost", _message("lost", "Events were trimmed before they were read.", nothing)
    several = {"type": "array", "items": _SCHEMAS[repr(LostEvents)]}
    yield "lostEvents", _message("lost", "Events were trimmed before they were read.", several)
    for name, shape in _ACTIONS.items():
        body = BODIES[name]
        found = _message(f"{name}Request", f"Sent when {body.brief}.", _SCHEMAS[repr(shape)])
        example_of_it = {"name": name, "payload": dict(body.example)}
        yield f"{name}Request", {**found, "headers": _headers(), "examples": [example_of_it]}
    action = _SCHEMAS[repr(Action)]
    yield "nextAction", _message("nextAction", "The verb that runs next, or its address.", action)


def _message(name: str, summary: str, payload: Any) -> dict[str, Any]:
    return {"name": name, "title": name, "summary": summary, "contentType": _JSON,
            "payload": _plain(payload)}  # fmt: skip


def _headers() -> dict[str, Any]:
    """Return the headers of a signed request."""
    texts = {
        "webhook-id": "Id of the request; the same when it is sent again.",
        "webhook-timestamp": "When it was sent, in seconds since 1970.",
        "webhook-url-sha256": "SHA-256 of the address, in hexadecimal digits.",
        "webhook-signature": "HMAC-SHA-256 over `hash.id.timestamp.body`.",
    }
    properties = {name: {**_TEXT, "description": text} for name, text in texts.items()}
    return {"type": "object", "required": [*texts], "properties": properties}


def _schemas() -> dict[str, Any]:
    """Return the components with the descriptions and patterns of the OpenAPI documents."""
    found = complete({"paths": {}, "components": {"schemas": _COMPONENTS}})
    return {name: _plain(each) for name, each in found["components"]["schemas"].items()}


def _plain(schema: Any) -> Any:
    """Return a schema without OpenAPI's discriminators: the words of `type` say the same."""
    match schema:
        case dict():
            return {key: _plain(each) for key, each in schema.items() if key != "discriminator"}
        case list():
            return [_plain(each) for each in schema]
        case _:
            return schema
