"""Requests and views of numbers and their routes."""

from typing import Any

import msgspec
from msgspec import Struct

from api.common.timestamps import format_ms
from api.documents.document import Document
from wire.base import Labels, Name
from wire.callbacks.targets import StatusTarget
from wire.decoding.errors import BadInput
from wire.decoding.messages import decode_message
from wire.rpc import NumberRoute, RecordCall
from wire.verbs import Action, Flow, FlowData, Verb


class RouteDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"
):
    """What calls to a number run: an action (an object or an https address), or a flow.

    `fallback` is static and runs instead if the action's webhook or flow fails. With `answer`
    false, calls ring until the action needs audio. With `allowListeners` a developer's machine may
    answer the webhooks of its calls (`switchroom listen`).
    """

    action: Action | None = None
    flow_id: Name | None = None
    fallback: Verb | None = None
    custom_data: dict[str, Any] | None = None
    record_call: bool | RecordCall = False
    labels: Labels | None = None
    status_callback_url: StatusTarget | None = None
    answer: bool = True
    allow_listeners: bool = False


class NumberView(Struct, frozen=True, rename="camel"):
    """A number of the account and its route; null: calls to it are rejected.

    `version` is the route's ETag without quotes.
    """

    number: str
    route: RouteDocument | None = None
    version: int | None = None
    changed_time: str | None = None


class NumberPage(Struct, frozen=True):
    """A page of numbers, in ascending order."""

    data: tuple[NumberView, ...]
    total: int
    limit: int
    offset: int


def route_of(account_id: str, body: RouteDocument) -> NumberRoute:
    """Return the route as engines know it; raises BadInput unless there is one action."""
    if body.action is None and body.flow_id is None:
        raise BadInput("action", "one of action and flowId is required")
    if body.action is not None and body.flow_id is not None:
        raise BadInput("action", "expected either action or flowId, got both")
    fields = msgspec.structs.asdict(body)
    flow_id = fields.pop("flow_id")
    if flow_id is not None:
        fields["action"] = Flow(FlowData(flow_id))
    return NumberRoute(account=account_id, **fields)


def route_body(document: Document) -> RouteDocument:
    """Return a stored route as the account put it."""
    fields = msgspec.structs.asdict(decode_message(document.body, NumberRoute))
    del fields["account"]
    action = fields["action"]
    if isinstance(action, Flow) and action == Flow(FlowData(action.data.flow_id)):
        fields |= {"action": None, "flow_id": action.data.flow_id}
    return RouteDocument(**fields)


def number_view(number: str, document: Document | None) -> NumberView:
    if document is None:
        return NumberView(number)
    changed_time = format_ms(document.changed_ms)
    return NumberView(number, route_body(document), document.version, changed_time)
