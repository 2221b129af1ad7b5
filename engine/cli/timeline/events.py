"""What happened to a call, one row a fact; facts that a reader gains nothing from give none."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.bridges import snoop_ended_row
from engine.cli.timeline.flow_steps import flow_row
from engine.cli.timeline.recordings import archived_row
from engine.cli.timeline.requests import request_row
from engine.cli.timeline.row import ENGINE, WEB, Kind, Row, TimelineState

_DUE = {
    "starting": "nobody answered in time",
    "playing": "the prompt's time is up",
    "detecting": "it is known who answered",
    "gathering": "no more digits came in time",
    "dialing": "nobody answered in time",
    "bridged": "the time to talk is up",
    "awaiting-instructions": "no answer in time",
    "ending": "a leg has not gone yet",
    "archiving-recordings": "the recording has not been filed in time",
}


def event_row(event: Mapping[str, Any], seen: TimelineState) -> Row | None:
    """Tell an event."""
    match event:
        case {"type": "leg-ringing", "leg": leg}:
            return Row("rings", leg)
        case {"type": "leg-answered", "leg": leg}:
            seen.answered.add(leg)
            return Row("answers", leg, kind="good")
        case {"type": "leg-ended"}:
            return _ended(event, seen)
        case {"type": "digit-pressed", "leg": leg, "digit": digit}:
            meanwhile = ", while no engine listened" if event.get("missed") else ""
            return Row(f"presses {digit}{meanwhile}", leg, kind="digit")
        case {"type": "talk-started", "leg": leg}:
            return Row("begins to make a sound", leg, kind="sound")
        case {"type": "talk-ended", "leg": leg, "duration_ms": length_ms}:
            return Row(f"made a sound of {wording.seconds(length_ms)}", leg, kind="sound")
        case {"type": "playback-ended", "failed": True}:
            return Row("could not play it", shape="mark", kind="bad")
        case {"type": "media-fetched", "faults": [*faults]} if faults:
            text = f"can't be had: {'; '.join(faults)}"
            return Row(text, shape="mark", kind="bad")
        case {"type": "action-received" | "action-failed"}:
            return _replied(event, seen)
        case _:
            return _rare(event, seen)


def _rare(event: Mapping[str, Any], seen: TimelineState) -> Row | None:
    match event:
        case {
            "type": "flow-started"
            | "flow-node-loaded"
            | "api-request-succeeded"
            | "api-request-failed"
        }:
            return flow_row(event)
        case {"type": "bridge-failed", "reason": reason}:
            seen.leave(*event.get("legs", ()))
            return Row(f"the legs could not be joined: {reason}", shape="mark", kind="bad")
        case {"type": "recordings-archived"}:
            return archived_row(event)
        case {"type": "deadline-passed"}:
            return Row(_due(seen), shape="mark", kind="faint")
        case {"type": "recovered"}:
            seen.bridges.clear()
            for leg, bridge in event.get("bridged", ()):
                seen.join(bridge, (leg,))
            return Row("an engine takes the call up again", shape="break", kind="good")
        case _:
            return request_row(event, seen)


def _due(seen: TimelineState) -> str:
    """Tell what was waited for, where that is certain: who rings may be it, or who is greeted."""
    is_usual = bool(seen.ringing) == (seen.state in {"starting", "dialing"})
    return _DUE.get(seen.state, "time is up") if is_usual else "time is up"


def _ended(event: Mapping[str, Any], seen: TimelineState) -> Row | None:
    leg = event["leg"]
    if leg in seen.snoops:
        return snoop_ended_row(leg, seen)
    answered = leg in seen.answered
    if reason := event.get("reason"):
        seen.ended.add(leg)
        return Row(f"is not called: {wording.dial_rejection(reason)}", leg, kind="bad", closes=leg)
    cause = wording.cause(event["cause"], 0 if answered else event.get("sip_code", 0))
    kind: Kind = "plain" if answered else "bad"
    seen.leave(leg)
    seen.ended.add(leg)
    return Row(f"{'is gone' if answered else 'gone, unanswered'}: {cause}", leg,
               kind=kind, closes=leg)  # fmt: skip


def _replied(event: Mapping[str, Any], seen: TimelineState) -> Row:
    is_good = event["type"] == "action-received"
    said = wording.action(event["action"]) if is_good else f"no usable answer: {event['reason']}"
    kind: Kind = "web" if is_good else "bad"
    if event["request"] in seen.flow_requests:
        return Row(f"the flow says: {said}", shape="mark", kind=kind)
    text = f"answers{wording.tries(event.get('tries', ()))}: {said}" if is_good else said
    return Row(text, WEB, ENGINE, kind=kind, closes=WEB)
