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
from switchroom_sdk.generated.verbs import *  # noqa: F403 - each verb, and its function
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
    "ActionRequest",
    "ApiError",
    "AsyncSwitchroom",
    "Body",
    "CallEvent",
    "CallRecord",
    "ConnectionFailed",
    "DialResult",
    "FieldError",
    "GatherResult",
    "InvalidField",
    "RecordResult",
    "RelativeAddress",
    "Switchroom",
    "SwitchroomError",
    "UnexpectedBody",
    "VerificationFailed",
    "Verifier",
    "parse",
]
