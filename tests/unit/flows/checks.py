"""Flows to be checked, and what is found in them."""

from typing import Any

from engine.flows.check import check_graph
from tests.sim.graphs import API
from wire.errors import Faults
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
    """Check a flow; give its faults by their places."""
    try:
        check_graph(document, Limits(), APIS if apis is None else apis)
    except Faults as error:
        return {each.path: each.code for each in error.faults}
    return {}


def nodes(start: str = "a", **given: Any) -> dict[str, Any]:
    """Make a flow that begins at `a`."""
    return {"start": start, "nodes": given}
