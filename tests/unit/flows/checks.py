"""Builders of flows, and their faults."""

from typing import Any

from engine.flows.check import check_graph
from tests.harness.scenarios.graphs import API
from wire.decoding.errors import InputErrors
from wire.request import ApiRequest
from wire.tree import Limits

MENU: dict[str, Any] = {
    "type": "menu",
    "data": {"text": "press"},
    "branches": {"1": "end"},
    "noInput": "end",
    "invalid": "end",
}
END = {"type": "hangup"}
LOOKUP = {"type": "request", "data": {"requestId": API}, "success": "hi", "failure": "end"}
APIS = {API: ApiRequest("https://crm.example/{{vars.key}}", answers={"tier": "/tier"})}
Found = dict[str, str]


def faults(document: Any, apis: dict[str, ApiRequest] | None = None) -> Found:
    """Check a flow; return its fault codes by path."""
    try:
        check_graph(document, Limits(), APIS if apis is None else apis)
    except InputErrors as error:
        return {each.path: each.code for each in error.errors}
    return {}


def nodes(start: str = "a", **by_name: Any) -> dict[str, Any]:
    """Return a flow that starts at node `start`."""
    return {"start": start, "nodes": by_name}
