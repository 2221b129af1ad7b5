"""The `webhooks` of the OpenAPI document: the requests that customers' servers get."""

from typing import Any, NamedTuple

from wire.events.call_events import CallEvent
from wire.openapi.components import Components
from wire.verbs import Verb
from wire.webhooks import ActionRequest, GatherResult, RecordResult, StreamResult

WEBHOOKS = "Webhooks"
_NEXT = "The next verb of the call, an object with a `type`."
_HEADERS = (
    ("webhook-id", "Id of the request; the same when it is sent again.", "msg_0195c2f0a1b24c"),
    ("webhook-timestamp", "When it was sent, in seconds since 1970.", "1795683600"),
    ("webhook-url-sha256", "SHA-256 of the address, in hexadecimal digits.", "9f86d081884c7d65…"),
    ("webhook-signature", "HMAC-SHA-256 over `hash.id.timestamp.body`.", "v1,…"),
)


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
