"""Rows for the events of a call; events without use for a reader have none."""

from collections.abc import Mapping
from typing import Any

from cli.timeline import wording
from cli.timeline.bridges import snoop_ended_row
from cli.timeline.requests import request_row
from cli.timeline.row import ENGINE, WEB, Kind, Row, TimelineState, mark
from cli.timeline.speech import recognizer_event_row
from cli.timeline.streams import stream_event_row


def event_row(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    match event:
        case {"type": "leg-ringing", "leg": leg}:
            return Row("ringing", leg)
        case {"type": "leg-answered", "leg": leg}:
            state.answered.add(leg)
            text = "answered, its ACK is awaited" if event.get("awaits_ack") else "answered"
            return Row(text, leg, kind="success")
        case {"type": "leg-ended"}:
            return _ended(event, state)
        case {"type": "digit-pressed" | "digit-started", "leg": leg}:
            return Row(_digit(event), leg, kind="digit")
        case {"type": "talk-started", "leg": leg}:
            return Row("sound starts", leg, kind="sound")
        case {"type": "talk-ended", "leg": leg, "duration_ms": length_ms}:
            return Row(f"sound for {wording.seconds(length_ms)}", leg, kind="sound")
        case {"type": "playback-ended", "failed": True}:
            return mark("playback failed", kind="failure")
        case {"type": "media-fetched"}:
            return _fetched(event)
        case {"type": "action-received" | "action-failed"}:
            return _response(event, state)
        case _:
            return _rare(event, state)


def _digit(event: Mapping[str, Any]) -> str:
    match event:
        case {"type": "digit-started"}:
            return "holds a key down"
        case {"digit": digit, "missed": True}:
            return f"presses {wording.hide_sealed(digit)}, while no engine was connected"
        case _:
            return f"presses {wording.hide_sealed(event['digit'])}"


def _fetched(event: Mapping[str, Any]) -> Row | None:
    faults, silent = event.get("faults", ()), event.get("silent", ())
    texts = [f"media not available: {'; '.join(faults)}"] if faults else []
    texts += [f"silent audio: {wording.shorten(each)}" for each in silent]
    return mark("; ".join(texts), kind="failure" if faults else "sound") if texts else None


def _rare(  # noqa: C901 - one case for each event
    event: Mapping[str, Any], state: TimelineState
) -> Row | None:
    match event:
        case {"type": "flow-started", "flow_id": flow, "version": version}:
            return mark(f"flow {flow}, version {version}", kind="web")
        case {"type": "flow-node-loaded", "name": name, "node": node}:
            return mark(f"node {name}: {_node(node)}", kind="web")
        case {"type": "agent-named", "leg": leg, "name": name}:
            return Row(f"agent: {name}", leg)
        case {"type": "api-request-succeeded", "values": values}:
            text = f"response{wording.tries(event.get('tries', ()))}: {_values(values)}"
            text += state.attempts_of(event["request"])
            return Row(text, WEB, ENGINE, kind="web", closes=WEB)
        case {"type": "api-request-failed", "reason": reason}:
            text = f"no usable response{wording.tries(event.get('tries', ()))}: {reason}"
            text += state.attempts_of(event["request"])
            return Row(text, WEB, ENGINE, kind="failure", closes=WEB)
        case {"type": "bridge-failed" | "call-dropped", "reason": reason}:
            state.leave(*event.get("legs", ()))
            what = "bridging failed" if event["type"] == "bridge-failed" else "call dropped"
            return mark(f"{what}: {reason}", kind="failure")
        case {"type": "recordings-archived"}:
            return _archived(event)
        case {"type": "deadline-passed"}:
            return mark(state.timer, kind="faint")
        case {"type": "clock-changed", "by_ms": by_ms}:
            return Row(f"clock changed by {by_ms / 1000:g} s", shape="break", kind="faint")
        case {"type": "recovered"}:
            state.bridges.clear()
            for leg, bridge in event.get("bridged", ()):
                state.join(bridge, (leg,))
            return Row(_recovered(event), shape="break", kind="success")
        case _:
            return (
                recognizer_event_row(event, state)
                or stream_event_row(event, state)
                or request_row(event, state)
            )


def _recovered(event: Mapping[str, Any]) -> str:
    engine = event.get("engine")
    text = f"engine {engine} took over" if engine else "the engine is connected again"
    if uncontrolled_ms := event.get("uncontrolled_ms"):
        text += f", {wording.seconds(uncontrolled_ms)} without control"
    return f"{text}; a prompt was perhaps not heard" if event.get("uncertain") else text


def _ended(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    leg = event["leg"]
    if leg in state.snoops:
        return snoop_ended_row(leg, state)
    if leg in state.streams:  # why, the gateway's report says
        state.leave(leg)
        return None
    answered = leg in state.answered
    if reason := event.get("reason"):
        state.ended.add(leg)
        return Row(f"not dialed: {wording.dial_rejection(reason)}", leg, kind="failure", closes=leg)
    cause = wording.cause(event["cause"], 0 if answered else event.get("sip_code", 0))
    kind: Kind = "plain" if answered else "failure"
    state.leave(leg)
    state.ended.add(leg)
    return Row(f"{'hung up' if answered else 'not answered'}: {cause}", leg,
               kind=kind, closes=leg)  # fmt: skip


def _response(event: Mapping[str, Any], state: TimelineState) -> Row:
    is_usable = event["type"] == "action-received"
    text = (
        wording.action(event["action"]) if is_usable else f"no usable response: {event['reason']}"
    )
    kind: Kind = "web" if is_usable else "failure"
    if event["request"] in state.flow_requests:
        return mark(f"flow action: {text}", kind=kind)
    if is_usable:
        text = f"response{wording.tries(event.get('tries', ()))}: {text}"
    text += state.attempts_of(event["request"])
    return Row(text, WEB, ENGINE, kind=kind, closes=WEB)


def _archived(event: Mapping[str, Any]) -> Row:
    match event:
        case {"fault": "lost"}:
            return mark("recording lost", kind="failure")
        case {"fault": str(fault)} if fault:
            return mark(f"recording not archived yet: {fault}", kind="failure")
        case _:
            return mark(f"recording archived: {wording.seconds(event.get('duration_ms', 0))}")


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
