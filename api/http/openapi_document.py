"""The OpenAPI document: FastAPI's, with msgspec's schemas, and 400 where FastAPI has 422."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import FastAPI

from api.http.openapi_operation import ALIAS_OF, ANY_SCOPE, COMPONENTS, SCOPE
from wire.events.call_events import CallEvent
from wire.openapi.document import Tag, complete, info
from wire.openapi.responses import Components
from wire.verbs import Verb
from wire.webhooks import ActionRequest, GatherResult, RecordResult, StreamResult

UNPROCESSABLE = "422"
FASTAPI_ERRORS = ("HTTPValidationError", "ValidationError")  # our errors are problems
BEARER = "BearerToken"
_BEARER_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "An access token, or in a lab an API key, with the prefix `Bearer`.",
}
_DESCRIPTION = "Voice calls, their control, and their records."
WEBHOOKS = "Webhooks"
_NEXT = "The next verb of the call, an object with a `type`."
_HEADERS = (
    ("webhook-id", "Id of the request; the same when it is sent again.", "msg_0195c2f0a1b24c"),
    ("webhook-timestamp", "When it was sent, in seconds since 1970.", "1795683600"),
    ("webhook-url-sha256", "SHA-256 of the address, in hexadecimal digits.", "9f86d081884c7d65…"),
    ("webhook-signature", "HMAC-SHA-256 over `hash.id.timestamp.body`.", "v1,…"),
)
TAGS = (
    Tag("Authentication", "Access tokens for an API key and its secret, and who the caller is."),
    Tag("Keys", "The account's API keys: scopes, networks, expiry, rotation."),
    Tag("Account", "The account's settings, limits and usage, and its jobs."),
    Tag("Calls", "Start calls, list them, and control them leg by leg."),
    Tag("Streams", "Bots that listen to a live call, and texts for bots."),
    Tag("Transfers", "Transfer the customer of a call to an agent or a number."),
    Tag("Conferences", "Add members to a call, remove them, and coach them."),
    Tag("Live events", "The events of calls as a stream."),
    Tag("Numbers", "The account's numbers, and what calls to them run."),
    Tag("Flows", "Call flows, their versions, and which version calls run."),
    Tag("API requests", "Requests to customers' servers that flows send."),
    Tag("Agents", "The directory of agents, their phones, and their presence."),
    Tag("Callbacks", "Where the events of calls are sent, and dead letters."),
    Tag("Webhook log", "Every attempt to reach a customer's server, and retries."),
    Tag("Webhooks in development", "Listeners that get webhook requests without a public address."),
    Tag("Call records", "Ended calls: lists, statistics, dispositions and exports."),
    Tag("Recordings", "Recordings: lists, download and deletion."),
    Tag("Audit", "Who has done what."),
    Tag("Operations", "The installation, for its operators: nodes, engines, shards, store."),
    Tag("Contact lists", "Contact lists, and the import of their files."),
    Tag("Contacts", "Contacts, their tags, events and downloads."),
    Tag("Do not call", "The do-not-call list, with tokens of its own."),
    Tag("Messaging numbers", "Numbers on the messaging platform."),
    Tag("Message templates", "Templates of messages, and notifications of the platform."),
)


class Application(FastAPI):
    """An application whose OpenAPI document describes its real responses."""

    def openapi(self) -> dict[str, Any]:
        """Return the document; it is made once."""
        if self.openapi_schema is None:
            self.openapi_schema = _whole(super().openapi())
        return self.openapi_schema


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    webhooks, components = webhook_documents()
    for path in document["paths"].values():
        for operation in path.values():
            _add(components, operation.pop(COMPONENTS, {}))
            _name_alias(operation, operation.pop(ALIAS_OF, None))
            _declare_security(operation, operation.pop(SCOPE, None))
            operation["responses"].pop(UNPROCESSABLE, None)
            _drop_empty_schemas(operation["responses"])
    found = document.setdefault("components", {})
    schemas = found.setdefault("schemas", {})
    for name in FASTAPI_ERRORS:
        schemas.pop(name, None)
    _add(schemas, components)
    found.setdefault("securitySchemes", {})[BEARER] = _BEARER_SCHEME
    tags = (*TAGS, Tag(WEBHOOKS, "Requests to customers' servers."))
    return complete(
        {
            **document,
            "info": info("Switchroom", _DESCRIPTION),
            "servers": [{"url": "/", "description": "This server"}],
            "tags": [each.document() for each in tags],
            "webhooks": webhooks,
        }
    )


def _add(components: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add components; raises ValueError if two shapes have the same name."""
    for name, schema in more.items():
        if components.setdefault(name, schema) != schema:
            raise ValueError(f"two shapes have the name {name}")


def _name_alias(operation: dict[str, Any], of: str | None) -> None:
    if of is not None:
        text = f"Another path of `{of}`, which clients should use."
        operation["description"] = "\n\n".join(filter(None, (operation.get("description"), text)))


def _declare_security(operation: dict[str, Any], scope: str | None) -> None:
    """Name the scope with each scheme; a public operation has no scheme."""
    names = [*operation["security"][0], BEARER] if scope else []
    scopes = [] if scope == ANY_SCOPE else [scope]
    operation["security"] = [{name: scopes} for name in names]


def _drop_empty_schemas(responses: dict[str, Any]) -> None:
    """Remove FastAPI's empty JSON schema, which describes nothing."""
    for response in responses.values():
        content = response.get("content", {})
        if content.get("application/json") == {"schema": {}}:
            del content["application/json"]


class _Webhook(NamedTuple):
    name: str
    summary: str
    description: str
    shape: Any
    returns_verb: bool


_ALL = (
    _Webhook(
        "action",
        "A call needs its next action",
        "Sent to the address in `action`: at the start of a call, and when a verb has ended.",
        ActionRequest,
        returns_verb=True,
    ),
    _Webhook(
        "gather",
        "Digits were collected",
        "Sent to the address in the `action` of a gather.",
        GatherResult,
        returns_verb=True,
    ),
    _Webhook(
        "record",
        "A message was recorded",
        "Sent to the address in the `action` of a record.",
        RecordResult,
        returns_verb=True,
    ),
    _Webhook(
        "stream",
        "A stream has ended",
        "Sent to the address in the `action` of a stream.",
        StreamResult,
        returns_verb=True,
    ),
    _Webhook(
        "statusCallback",
        "A call event",
        "Sent to `statusCallbackUrl`, or else to the account's target. It is repeated until the"
        " response is a success.",
        CallEvent,
        returns_verb=False,
    ),
)


def webhook_documents() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the webhooks by name, and the components that they refer to."""
    components = Components(*(each.shape for each in _ALL), Verb)
    return {each.name: {"post": _operation(each, components)} for each in _ALL}, components.schemas


def _operation(webhook: _Webhook, components: Components) -> dict[str, Any]:
    content = {"application/json": {"schema": components.of(Verb)}}
    success = (
        {"200": {"description": _NEXT, "content": content}}
        if webhook.returns_verb
        else {"204": {"description": "Received; any other 2xx counts, too."}}
    )
    return {
        "operationId": f"webhookRequests.{webhook.name}",
        "tags": [WEBHOOKS],
        "summary": webhook.summary,
        "description": webhook.description,
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": False,
                "description": text,
                "schema": {"type": "string"},
                "example": example,
            }
            for name, text, example in _HEADERS
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": components.of(webhook.shape)}},
        },
        "responses": {
            **success,
            "4XX": {
                "description": "An error; the call runs its fallback, or the event is repeated."
            },
        },
    }
