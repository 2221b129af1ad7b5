"""Rows for the events of a call; events without use for a reader have none."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from base.timeline import faults, wording
from base.timeline.bridges import snoop_ended_row
from base.timeline.speech import recognizer_event_row
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from base.timeline.streams import stream_event_row
from wire.views import RowKind, TimelineFault, TimelineRow

_USUAL_CAUSES = {0, 16}  # of the end of an answered leg


def event_rows(event: Mapping[str, Any], state: TimelineState) -> Iterator[TimelineRow | None]:
    """Yield the rows of an event; None for one that only begins or ends spans."""
    match event:
        case {"type": "media-fetched"}:
            yield from _fetched(event)
        case {"type": "flow-node-loaded", "name": name}:
            for each in event.get("faults", ()):
                text = f"a value does not fit: {each}"
                yield mark(text, ENGINE, "failure", faults.of_value(each))
            is_skipped = event.get("is_skipped")
            text = " does not run" if is_skipped else f": {_node(event['node'])}"
            yield mark(f"node {name}{text}", kind="web")
        case _:
            yield _row(event, state)


def _row(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match event:
        case {"type": "leg-ringing", "leg": leg}:
            state.rang.add(leg)
            return arrow("ringing", leg)
        case {"type": "leg-answered", "leg": leg}:
            state.answered.add(leg)
            text = "answered, its ACK is awaited" if event.get("awaits_ack") else "answered"
            return arrow(text, leg, kind="success")
        case {"type": "leg-ended"}:
            return _ended(event, state)
        case {"type": "digit-pressed" | "digit-started", "leg": leg}:
            return arrow(_digit(event), leg, kind="digit")
        case {"type": "talk-started", "leg": leg}:
            return arrow("sound starts", leg, kind="sound")
        case {"type": "talk-ended", "leg": leg, "duration_ms": length_ms}:
            return arrow(f"sound for {wording.seconds(length_ms)}", leg, kind="sound")
        case {"type": "playback-ended", "playback": playback}:
            if leg := state.playbacks.pop(playback, ""):
                state.end(leg, "prompt")
            has_failed = event.get("failed")
            text = "playback failed"
            return mark(text, ENGINE, "failure", faults.NOT_PLAYED) if has_failed else None
        case {"type": "action-received" | "action-failed"}:
            return _response(event, state)
        case _:
            return _rare(event, state)


def _digit(event: Mapping[str, Any]) -> str:
    match event:
        case {"type": "digit-started"}:
            return "holds a key down"
        case {"digit": digit, "missed": True}:
            return f"presses {digit}, while no engine was connected"
        case _:
            return f"presses {event['digit']}"


def _fetched(event: Mapping[str, Any]) -> Iterator[TimelineRow]:
    texts, failed = event.get("faults", ()), event.get("failed", ())
    if texts and not failed:
        yield mark(f"audio is not available: {'; '.join(texts)}", kind="failure")
    for each in failed:
        source, reason = each["source"], each["reason"]
        text = next((each for each in texts if each.startswith(reason)), reason)
        row = f"audio is not available: {text}, {wording.shorten(source)}"
        yield mark(row, ENGINE, "failure", faults.of_media(source, reason, text))
    for source in event.get("silent", ()):
        yield mark(f"silent audio: {wording.shorten(source)}", kind="sound")


def _rare(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match event:
        case {"type": "flow-started", "flow_id": flow, "version": version}:
            return mark(f"flow {flow}, version {version}", kind="web")
        case {"type": "agent-named", "leg": leg, "name": name}:
            return arrow(f"agent: {name}", leg)
        case {"type": "api-request-succeeded", "values": values}:
            return _answer(event, state, f"response{_tries(event)}: {wording.values(values)}")
        case {"type": "api-request-failed", "request": request, "reason": reason}:
            fault = faults.of_request(state.requests.get(request), reason)
            text = f"no usable response{_tries(event)}: {reason}"
            return _answer(event, state, text, fault)
        case {"type": "bridge-failed" | "call-dropped", "reason": reason}:
            state.leave(*event.get("legs", ()))
            is_bridge = event["type"] == "bridge-failed"
            what = "bridging failed" if is_bridge else "call dropped"
            fault = faults.of_bridge(reason) if is_bridge else faults.of_drop(reason)
            return mark(f"{what}: {reason}", ENGINE, "failure", fault)
        case {"type": "recordings-archived"}:
            return _archived(event)
        case {"type": "deadline-passed"}:
            return mark(state.timer, kind="faint")
        case {"type": "clock-changed", "by_ms": by_ms}:
            return mark(f"clock changed by {by_ms / 1000:g} s", kind="break")
        case {"type": "recovered"}:
            _bridge_again(event.get("bridged", ()), state)
            return mark(_recovered(event), kind="break")
        case _:
            return (
                recognizer_event_row(event, state)
                or stream_event_row(event, state)
                or _request_row(event, state)
            )


def _bridge_again(found: Iterable[tuple[str, str]], state: TimelineState) -> None:
    """Let each leg be in the bridge in which the engine has found it."""
    stays = {leg for leg, bridge in found if leg in state.bridges.get(bridge, ())}
    state.leave(*(leg for legs in state.bridges.values() for leg in legs if leg not in stays))
    for leg, bridge in found:
        if leg not in stays:
            state.join(bridge, (leg,))


def _recovered(event: Mapping[str, Any]) -> str:
    engine = event.get("engine")
    text = f"engine {engine} took over" if engine else "the engine is connected again"
    if uncontrolled_ms := event.get("uncontrolled_ms"):
        text += f", {wording.seconds(uncontrolled_ms)} without control"
    return f"{text}; a prompt was perhaps not heard" if event.get("uncertain") else text


def _ended(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    leg = event["leg"]
    if leg in state.snoops:
        return snoop_ended_row(leg, state)
    state.leave(leg)
    if leg in state.streams:  # why, the gateway's report says
        return None
    answered = leg in state.answered
    state.ended.add(leg)
    state.end_all(leg)
    is_fault = leg in state.dialed and leg not in state.hung_up and not answered
    fault = faults.of_unanswered(state.dialed[leg], event) if is_fault else None
    if (reason := event.get("reason")) and not answered:
        text = f"not dialed: {wording.dial_rejection(reason)}"
        return arrow(text, leg, kind="failure", fault=fault)
    cause = event["cause"]
    text = wording.cause(cause, 0 if answered else event.get("sip_code", 0))
    kind: RowKind = "plain" if answered and cause in _USUAL_CAUSES else "failure"
    return arrow(
        f"{'hung up' if answered else 'not answered'}: {text}", leg, kind=kind, fault=fault
    )


def _response(event: Mapping[str, Any], state: TimelineState) -> TimelineRow:
    is_usable = event["type"] == "action-received"
    reason = event.get("reason", "")
    text = wording.action(event["action"]) if is_usable else f"no usable response: {reason}"
    sent = state.requests.get(event["request"])
    is_flow = event["request"] in state.flow_requests
    fault = None if is_usable else faults.of_request(sent, reason, is_flow=is_flow)
    if is_flow:
        kind: RowKind = "web" if is_usable else "failure"
        request = event["request"]
        return arrow(f"flow action: {text}", kind=kind, request=request, fault=fault)
    return _answer(event, state, f"response{_tries(event)}: {text}" if is_usable else text, fault)


def _answer(
    event: Mapping[str, Any],
    state: TimelineState,
    text: str,
    fault: TimelineFault | None = None,
) -> TimelineRow:
    """Return the row of what a server has answered."""
    request = event["request"]
    sent = state.requests.get(request)
    lifeline = sent.lifeline if sent else ENGINE
    state.end(lifeline, "request")
    kind: RowKind = "web" if fault is None else "failure"
    return arrow(text, lifeline, kind=kind, request=request, fault=fault)


def _tries(event: Mapping[str, Any]) -> str:
    return wording.tries(event.get("tries", ()))


def _archived(event: Mapping[str, Any]) -> TimelineRow:
    match event:
        case {"fault": "lost"}:
            return mark("recording lost", ENGINE, "failure", faults.NOT_STORED)
        case {"fault": str(fault)} if fault:
            text = f"recording not archived yet: {fault}"
            return mark(text, ENGINE, "failure", faults.NOT_STORED)
        case _:
            return mark(f"recording archived: {wording.seconds(event.get('duration_ms', 0))}")


def _node(node: Mapping[str, Any]) -> str:
    match node:
        case {"type": "set", "variables": variables}:
            return f"set {wording.values(variables)}"
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


def _request_row(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match event:
        case {"type": "hangup-requested", "by": by}:
            return mark(f"request by {by}: hang up the call")
        case {"type": "leg-hangup-requested", "leg": leg}:
            return mark(f"request: hang up {state.name(leg)}", leg)
        case {"type": "mute-requested", "leg": leg, "direction": direction}:
            mute = f"mute {state.name(leg)} ({wording.mute_direction(direction)})"
            return _request(None, mute if direction else f"unmute {state.name(leg)}", leg)
        case {"type": "hold-requested", "leg": leg, "held": held}:
            _hold(leg, "on hold" if held else "", state)
            return mark(f"request: {'hold' if held else 'unhold'} {state.name(leg)}", leg)
        case {"type": "dial-requested", "party": party}:
            return mark(f"request: dial {party}")
        case {"type": "recording-requested", "wanted": wanted}:
            return mark(f"request: {wanted} recording")
        case {"type": "leg-held-by-phone", "leg": leg}:
            _hold(leg, "held by its phone", state)
            return mark(f"the phone of {state.name(leg)} holds", leg)
        case {"type": "leg-resumed-by-phone", "leg": leg}:
            _hold(leg, "", state)
            return mark(f"the phone of {state.name(leg)} resumes", leg)
        case {"type": "refer-received", "leg": leg}:
            return arrow(f"REFER: {_referred(event)}", leg)
        case _:
            return _with_parties(event, state)


def _hold(leg: str, text: str, state: TimelineState) -> None:
    """Begin a hold, or end it."""
    if text:
        state.begin(leg, "hold", text)
    else:
        state.end(leg, "hold")


def _with_parties(event: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    match event:
        case {"type": "replacement-arrived", "leg": leg, "replaced": replaced}:
            return arrow(f"arrives from another call in place of {state.name(replaced)}", leg)
        case {"type": "leg-replaced", "leg": leg, "replaced": replaced}:
            return arrow(f"takes the place of {state.name(replaced)}", leg)
        case {"type": "transfer-requested", "source": source, "customer": customer}:
            who = f"{state.name(customer)} from {state.name(source)} to {event['party']}"
            return _request(event.get("source_agent"), f"transfer {who}, {event['mode']}")
        case {"type": "transfer-completion-requested", "reason": reason}:
            return _request(event.get("by"), f"complete the transfer ({reason})")
        case {"type": "transfer-cancel-requested", "reason": reason}:
            return _request(event.get("by"), f"cancel the transfer ({reason})")
        case {"type": "add-member-requested", "party": party}:
            return _request(event.get("by"), f"add {party} to the conference")
        case {"type": "kick-requested", "leg": leg, "is_leave": is_leave}:
            who = state.name(leg)
            return _request(event.get("by"), f"{who} leaves" if is_leave else f"kick {who}", leg)
        case {"type": "coach-requested", "leg": leg, "coached": coached}:
            action = f"coaches {state.name(coached)}" if coached else "stops coaching"
            return mark(f"request: {state.name(leg)} {action}", leg)
        case _:
            return None


def _request(by: str | None, what: str, leg: str = ENGINE) -> TimelineRow:
    return mark(f"request by {by}: {what}" if by else f"request: {what}", leg)


def _referred(event: Mapping[str, Any]) -> str:
    if event.get("replaces"):
        return "transfer the other party to another call (Replaces)"
    return f"transfer the other party to {event.get('party') or 'an invalid target'}"
