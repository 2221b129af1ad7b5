"""TwiML's Connect, Start and Stop: streams to bots, and forks of a call's audio."""

from typing import Any

from cli.convert.addresses import stream_address
from cli.convert.result import Action, Remarks, verb
from cli.convert.twiml import attributes
from cli.convert.twiml.attributes import alternative, check_content
from cli.convert.twiml.document import Element

_TRACKS = {"inbound_track": "caller", "outbound_track": "bot", "both_tracks": "both"}
_STREAM = {"url", "name", "track", "statusCallback", "statusCallbackMethod"}
_EVENTS = (
    "the event `stream` says what became of it: a target of the account gets all,"
    " `switchroom callback set` (docs/callbacks.md)"
)
_STOPPED = (
    "`switchroom stream stop` or a request ends a fork (docs/streams/live-calls.md), so does its"
    " `maxDuration`"
)


def connect(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Convert a Connect; what follows runs when the bot closes its websocket."""
    attributes.check_known(element, {"action"}, remarks)
    after = attributes.address(element, "action", remarks) or follows
    nouns = _streams(element, remarks)
    if not nouns:
        remarks.lose(element, "has no <Stream> that is converted, and is left out")
        return after
    for each in nouns[1:]:
        remarks.lose(each, "is left out: <Connect> has one <Stream>")
    data = _data(nouns[0], remarks)
    if nouns[0].attributes.get("track", "inbound_track") != "inbound_track":
        remarks.lose(nouns[0], "track is not converted: a bot that is connected hears the caller")
    return verb("stream", data, after) if data else after


def start(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Convert a Start; what follows runs at once."""
    attributes.check_known(element, set(), remarks)
    for each in reversed(_streams(element, remarks)):
        if data := _data(each, remarks):
            fork = {**data, "fork": True, "track": _track(each, remarks)}
            follows = verb("stream", fork, follows)
    return follows


def stop(element: Element, follows: Action, remarks: Remarks) -> Action:
    """Remark what is stopped: a tree cannot stop a fork."""
    for each in element.children:
        hint = f": {_STOPPED}" if each.name == "Stream" else alternative(each.name)
        remarks.lose(each, f"in <Stop> is left out{hint}")
    return follows


def _streams(element: Element, remarks: Remarks) -> list[Element]:
    """Return the streams in an element; others have no counterpart."""
    for each in element.children:
        if each.name != "Stream":
            hint = alternative(each.name)
            remarks.lose(each, f"has no counterpart and is left out{hint}")
    return [each for each in element.children if each.name == "Stream"]


def _data(stream: Element, remarks: Remarks) -> dict[str, Any]:
    """Return the address and the parameters; nothing, with a remark, without an address."""
    check_content(stream, remarks)
    attributes.check_known(stream, _STREAM, remarks)
    if "statusCallback" in stream.attributes:
        remarks.lose(stream, f"statusCallback is not converted: {_EVENTS}")
    if "name" in stream.attributes:
        remarks.note(stream, "name is left out: streams have ids, which `switchroom stream` lists")
    text = stream.attributes.get("url", "").strip()
    url = stream_address(stream, text, remarks)
    parameters = _parameters(stream, remarks)
    if url is None:
        return {}
    return {"url": url} | ({"parameters": parameters} if parameters else {})


def _parameters(stream: Element, remarks: Remarks) -> dict[str, str]:
    found = {}
    for each in stream.children:
        name = each.attributes.get("name", "")
        if each.name != "Parameter" or not name:
            remarks.lose(each, "in <Stream> is left out: a <Parameter> with a name is expected")
            continue
        attributes.check_known(each, {"name", "value"}, remarks)
        found[name] = each.attributes.get("value", "")
    return found


def _track(stream: Element, remarks: Remarks) -> str:
    """Return whose voice a fork has."""
    track = stream.attributes.get("track", "inbound_track").strip()
    if track not in _TRACKS:
        remarks.lose(stream, f"track: expected {', '.join(_TRACKS)}, not {track!r}")
        return "caller"
    if track == "both_tracks":
        remarks.note(
            stream, "both_tracks: one track has both voices, named inbound; two forks have one each"
        )
    return _TRACKS[track]
