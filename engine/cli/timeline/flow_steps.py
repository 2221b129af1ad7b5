"""Rows for the steps of a flow: nodes and API responses."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.row import ENGINE, WEB, Row


def flow_row(event: Mapping[str, Any]) -> Row:
    tries = wording.tries(event.get("tries", ()))
    match event:
        case {"type": "flow-node-loaded", "name": name, "node": node}:
            return Row(f"node {name}: {_node(node)}", shape="mark", kind="web")
        case {"type": "flow-started", "flow_id": flow, "version": version}:
            return Row(f"flow {flow}, version {version}", shape="mark", kind="web")
        case {"type": "api-request-succeeded", "values": values}:
            text = f"response{tries}: {_values(values)}"
            return Row(text, WEB, ENGINE, kind="web", closes=WEB)
        case _:
            text = f"no usable response{tries}: {event['reason']}"
            return Row(text, WEB, ENGINE, kind="failure", closes=WEB)


def _node(node: Mapping[str, Any]) -> str:
    match node:
        case {"type": "set", "variables": variables}:
            return f"set {_values(variables)}"
        case {"type": "goto", "node": name}:
            return f"goto {name}"
        case {"type": "menu", "branches": branches}:
            return f"{wording.action(node)}; keys {', '.join(branches)}"
        case {"type": "request"}:
            return "API request"
        case {"type": "condition", "cases": cases}:
            return f"condition, {len(cases)} cases"
        case _:
            return wording.action(node)


def _values(values: Mapping[str, Any]) -> str:
    texts = {name: "null" if each is None else str(each) for name, each in values.items()}
    parts = [f"{name} = {wording.shorten(each)}" for name, each in texts.items()]
    return ", ".join(parts) or "no values"
