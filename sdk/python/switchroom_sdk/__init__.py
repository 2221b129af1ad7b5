"""The Python SDK of Switchroom: verbs, webhooks, and the REST API.

from switchroom_sdk import say

say("Press one for sales.").gather(max_digits=1, action="/menu").to_dict("https://example.com")
"""

from switchroom_sdk.bodies import Body, UnexpectedBody, parse
from switchroom_sdk.client.clients import AsyncSwitchroom, Switchroom
from switchroom_sdk.errors import (
    ApiError,
    ConnectionFailed,
    FieldError,
    InvalidField,
    RelativeAddress,
    SwitchroomError,
    VerificationFailed,
)
from switchroom_sdk.generated.verbs import (
    Action,
    Confirm,
    Dial,
    Flow,
    Gather,
    Hangup,
    MachineDetection,
    Pause,
    Play,
    Record,
    Say,
    Stream,
    Verb,
    dial,
    flow,
    gather,
    hangup,
    pause,
    play,
    record,
    say,
    stream,
)
from switchroom_sdk.generated.webhooks import (
    ActionRequest,
    CallEvent,
    CallRecord,
    DialResult,
    GatherResult,
    RecordResult,
)
from switchroom_sdk.verification import Verifier

__all__ = [
    "Action",
    "ActionRequest",
    "ApiError",
    "AsyncSwitchroom",
    "Body",
    "CallEvent",
    "CallRecord",
    "Confirm",
    "ConnectionFailed",
    "Dial",
    "DialResult",
    "FieldError",
    "Flow",
    "Gather",
    "GatherResult",
    "Hangup",
    "InvalidField",
    "MachineDetection",
    "Pause",
    "Play",
    "Record",
    "RecordResult",
    "RelativeAddress",
    "Say",
    "Stream",
    "Switchroom",
    "SwitchroomError",
    "UnexpectedBody",
    "Verb",
    "VerificationFailed",
    "Verifier",
    "dial",
    "flow",
    "gather",
    "hangup",
    "parse",
    "pause",
    "play",
    "record",
    "say",
    "stream",
]
