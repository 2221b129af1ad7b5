from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallEvent(_message.Message):
    __slots__ = ("id", "event", "sequence_number", "timestamp_ms", "account_id", "call_id", "parent_call_id", "channel_id", "direction", "to", "call_status", "leg_status", "party", "sip_code", "hangup_cause", "ended_by", "reason", "duration_s", "recording_url", "agent_id", "reference_id", "custom_data_json", "duration_ms", "ended_by_channel_id", "privacy", "diversion", "json")
    ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_MS_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    CALL_STATUS_FIELD_NUMBER: _ClassVar[int]
    LEG_STATUS_FIELD_NUMBER: _ClassVar[int]
    PARTY_FIELD_NUMBER: _ClassVar[int]
    SIP_CODE_FIELD_NUMBER: _ClassVar[int]
    HANGUP_CAUSE_FIELD_NUMBER: _ClassVar[int]
    ENDED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DURATION_S_FIELD_NUMBER: _ClassVar[int]
    RECORDING_URL_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_ID_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    ENDED_BY_CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_FIELD_NUMBER: _ClassVar[int]
    DIVERSION_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    event: str
    sequence_number: int
    timestamp_ms: int
    account_id: str
    call_id: str
    parent_call_id: str
    channel_id: str
    direction: str
    to: str
    call_status: str
    leg_status: str
    party: str
    sip_code: int
    hangup_cause: int
    ended_by: str
    reason: str
    duration_s: int
    recording_url: str
    agent_id: str
    reference_id: str
    custom_data_json: str
    duration_ms: int
    ended_by_channel_id: str
    privacy: bool
    diversion: _containers.RepeatedCompositeFieldContainer[Diversion]
    json: str
    def __init__(self, id: _Optional[str] = ..., event: _Optional[str] = ..., sequence_number: _Optional[int] = ..., timestamp_ms: _Optional[int] = ..., account_id: _Optional[str] = ..., call_id: _Optional[str] = ..., parent_call_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., direction: _Optional[str] = ..., to: _Optional[str] = ..., call_status: _Optional[str] = ..., leg_status: _Optional[str] = ..., party: _Optional[str] = ..., sip_code: _Optional[int] = ..., hangup_cause: _Optional[int] = ..., ended_by: _Optional[str] = ..., reason: _Optional[str] = ..., duration_s: _Optional[int] = ..., recording_url: _Optional[str] = ..., agent_id: _Optional[str] = ..., reference_id: _Optional[str] = ..., custom_data_json: _Optional[str] = ..., duration_ms: _Optional[int] = ..., ended_by_channel_id: _Optional[str] = ..., privacy: _Optional[bool] = ..., diversion: _Optional[_Iterable[_Union[Diversion, _Mapping]]] = ..., json: _Optional[str] = ..., **kwargs) -> None: ...

class Diversion(_message.Message):
    __slots__ = ("number", "reason", "privacy")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PRIVACY_FIELD_NUMBER: _ClassVar[int]
    number: str
    reason: str
    privacy: bool
    def __init__(self, number: _Optional[str] = ..., reason: _Optional[str] = ..., privacy: _Optional[bool] = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("gone",)
    GONE_FIELD_NUMBER: _ClassVar[int]
    gone: bool
    def __init__(self, gone: _Optional[bool] = ...) -> None: ...
