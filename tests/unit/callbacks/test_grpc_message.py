"""The protobuf message of an event."""

import msgspec

from engine.callbacks.transports.grpc import to_protobuf
from tests.harness.callbacks.scene import encoded_event
from wire.generated.callback_pb2 import CallEvent

REQUIRED = {
    "id": "c.e0",
    "event": "ringing",
    "sequenceNumber": 3,
    "timestamp": 1_700_000_000_000,
    "accountId": "acme",
    "callId": "c",
    "direction": "outbound",
    "from": "+4721930000",
    "to": "+4722222222",
    "callStatus": "ringing",
}


def test_absent_fields_stay_empty() -> None:
    """A reader of protobuf cannot tell them from empty ones; the JSON beside them is exact."""
    body = msgspec.json.encode(REQUIRED)
    message = to_protobuf(body)
    fields = {field.json_name: value for field, value in message.ListFields()}
    times = {"timestampMs": fields.pop("timestampMs")}
    assert times == {"timestampMs": REQUIRED["timestamp"]}
    assert fields.pop("json") == body.decode()
    assert fields == {name: value for name, value in REQUIRED.items() if name != "timestamp"}


def test_all_fields_of_an_event_are_converted() -> None:
    """Numbers keep their units; custom data are JSON."""
    event = msgspec.json.decode(encoded_event("c", 0))
    event |= {"durationMs": 1_500, "duration": 2, "sipCode": 486, "hangupCause": 17}
    message = to_protobuf(msgspec.json.encode(event))
    assert isinstance(message, CallEvent)
    found = (message.duration_ms, message.duration_s, message.sip_code, message.hangup_cause)
    assert found == (1_500, 2, 486, 17)
    assert msgspec.json.decode(message.custom_data_json) == event["customData"]
