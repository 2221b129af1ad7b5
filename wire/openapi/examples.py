"""Examples of values, made from their schema: the same call, agent and numbers everywhere."""

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
CALL = "3-pbx1-0195c2f0a1b24c"
_AT_MS, _TIME, _DATE = 1_795_683_600_000, "2026-11-26T09:00:00.000Z", "2026-11-26"
_KEY = "welcome"  # of a mapping that may not be empty
# By `field` or, where one differs, by `Shape.field`; the first one that the schema allows.
_EXAMPLES: dict[str, tuple[Any, ...]] = {
    "CdrRecording.state": ("archived",),
    "ConferenceRecord.state": ("completed",),
    "ConferenceView.state": ("in-progress",),
    "JobView.state": ("running",),
    "MemberRecord.state": ("complete",),
    "MemberView.state": ("connected",),
    "RecordingRecord.state": ("archived",),
    "RecordingView.state": ("running",),
    "TransferRecord.state": ("completed",),
    "TransferView.state": ("answered",),
    "TransferView.target": ("agent:1002",),
    "StartStream.url": ("wss://bot.example.com/listen",),
    "StreamData.url": ("wss://bot.example.com/call",),
    "StreamRequest.url": ("wss://bot.example.com/listen",),
    "StreamView.state": ("connected",),
    "StreamView.url": ("wss://bot.example.com/listen",),
    "account": ("acme",),
    "accountId": ("acme",),
    "agentId": ("1001",),
    "agentName": ("Ada",),
    "agent_id": ("1001",),
    "callId": (CALL,),
    "callIds": ([CALL],),
    "channelId": (f"{CALL}.l0",),
    "code": ("invalid",),
    "conferenceSessionId": (f"{CALL}.f2",),
    "customerChannelId": (f"{CALL}.l0",),
    "day": (_DATE,),
    "date": (_DATE,),
    "direction": ("inbound", "in"),
    "email": ("ann@example.com",),
    "endpoint": ("PJSIP/1001",),
    "event": ("answered", {"type": "answered"}),
    "file": ("0195c2f0a1b24c.wav",),
    "flowId": ("welcome",),
    "from": ("+4722222222", 1),
    "id": (CALL, 1),
    "limit": (10,),
    "mainChannelId": (f"{CALL}.l0",),
    "method": ("POST",),
    "name": ("Support",),
    "node": ("pbx1",),
    "number": ("+4721930000", 3),
    "offset": (0,),
    "party": ("+4722222222",),
    "path": ("nodes.welcome.data.text",),
    "phoneNo": ("+4790000000",),
    "phoneNumber": ("+4790000000",),
    "region": ("NO",),
    "reqId": (CALL,),
    "scopes": (["calls:own"],),
    "slot": (3,),
    "sourceChannelId": (f"{CALL}.l1",),
    "state": ("bridged",),
    "status": ("answered", 200),
    "start": ("welcome",),
    "target": ("https://example.com/events", "+4733333333"),
    "targetChannelId": (f"{CALL}.l2",),
    "timestamp": (_AT_MS,),
    "to": ("+4721930000", 2),
    "toNumber": ("+4721930000",),
    "transferMode": ("attended",),
    "transferSessionId": (f"{CALL}.t2",),
    "url": ("https://example.com/menu",),
}
_MOMENTS = re.compile(
    r"(at|created|answered|ended|started|joined|left|requested|until|made|dead|pressed|pbx)Ms"
)
_TEXTS = (  # of a pattern, or of a field without an example of its own
    "example",
    "1001",
    "+4721930000",
    "https://example.com/menu",
    "pbx1/3",
    "pbx1/3.1795683600000-0",
    "3.1795683600000-0",
    "1795683600000-0",
    "0123456789abcdef01234567",
    "1",
    "NO",
    "47",
    "PJSIP/1001",
    "/customer/name",
    "ann@example.com",
)


def example_of(
    schema: Schema, components: Mapping[str, Schema], name: str = "", shape: str = ""
) -> Any:
    """Return a value that a schema allows, of a field with this name of this shape."""
    for each in _candidates(name, shape):
        if _allows(schema, each):
            return each
    match schema:
        case {"$ref": str(reference)}:
            referred = reference.rpartition("/")[2]
            found = components[referred]
            if "properties" in found:
                return _object(found, components, referred)
            return example_of(found, components, name, shape)
        case {"anyOf": [*options]} | {"oneOf": [*options]}:
            found = next((each for each in options if each.get("type") != "null"), options[0])
            return example_of(found, components, name, shape)
        case {"const": value} | {"enum": [value, *_]}:
            return value
        case {"default": value} if value is not None:
            return value
        case {"type": "array"}:
            first = schema.get("prefixItems") or [schema.get("items", {})]
            return [example_of(each, components, name.removesuffix("s")) for each in first]
        case {"type": "object"}:
            return _object(schema, components)
        case _:
            return _scalar(schema)


def _scalar(schema: Schema) -> Any:
    match schema.get("type"):
        case "string":
            return next((each for each in _TEXTS if _allows(schema, each)), _TEXTS[0])
        case "boolean":
            return True
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "null":
            return None
        case _:
            return {}


def _object(schema: Schema, components: Mapping[str, Schema], shape: str = "") -> dict[str, Any]:
    """Return an object with the required fields, and with those that have an example."""
    if schema.get("minProperties"):
        return {_KEY: example_of(schema["additionalProperties"], components)}
    required = schema.get("required", ())
    return {
        name: example_of(each, components, name, shape)
        for name, each in schema.get("properties", {}).items()
        if name in required or any(_allows(each, one) for one in _known(name, shape))
    }


def _known(name: str, shape: str) -> tuple[Any, ...]:
    return _EXAMPLES.get(f"{shape}.{name}") or _EXAMPLES.get(name, ())


def _candidates(name: str, shape: str) -> tuple[Any, ...]:
    if _MOMENTS.fullmatch(name):
        return (_AT_MS,)
    if name.endswith(("Time", "createdAt", "updatedAt")) or name == "time":
        return (_TIME,)
    return _known(name, shape)


def _allows(schema: Schema, value: Any) -> bool:
    """Return whether a schema allows a value, as far as it can be seen without references."""
    match schema:
        case {"$ref": _}:
            return False
        case {"anyOf": [*options]} | {"oneOf": [*options]}:
            return any(_allows(each, value) for each in options)
        case {"const": const}:
            return bool(value == const)
        case {"enum": [*values]}:
            return value in values
        case _:
            pass
    match schema.get("type"), value:
        case "string", str():
            least, most = schema.get("minLength", 0), schema.get("maxLength", len(value))
            pattern = schema.get("pattern", "")
            return least <= len(value) <= most and bool(re.search(pattern, value))
        case "integer" | "number", int():
            is_number = not isinstance(value, bool)
            return is_number and schema.get("minimum", value) <= value <= schema.get(
                "maximum", value
            )
        case "array", list():
            return all(_allows(schema.get("items", {}), each) for each in value)
        case "object", dict():
            return "properties" not in schema
        case None, _:
            return not schema or "type" not in schema
        case _:
            return False
