"""What the pages of webhooks say beside the shapes: when each is sent, and examples of bodies."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from wire.events.call_events import CallEvent
from wire.listeners import ListenerRequest
from wire.webhooks import ActionRequest, DialResult, GatherResult, RecordResult, StreamResult

CALL = "3-pbx1-0195c2f0a1b24c"
_CALL = {
    "callId": CALL, "from": "+4722222222", "to": "+4721930000", "direction": "inbound",
    "accountId": "acme", "channelId": f"{CALL}.l0",
}  # fmt: skip
_DIALED = {
    "status": "completed", "cause": 16, "duration": 83, "durationMs": 82410,
    "number": "+4733333333", "channelId": f"{CALL}.l1", "reference_id": "order-4711",
}  # fmt: skip
_EVENT = {
    "id": f"{CALL}.e3", "event": "leg-answered", "sequenceNumber": 3, "timestamp": 1795683600000,
    "callStatus": "in-progress", **_CALL, "parentCallId": CALL, "channelId": f"{CALL}.l1",
    "party": "agent:1001", "agent_id": "1001", "reference_id": "order-4711",
    "customData": {"order": 4711}, "version": 1,
}  # fmt: skip


class Body(NamedTuple):
    """A body: when it is sent, and an example; `values` are those of one field."""

    title: str
    brief: str
    shape: Any
    when: str
    example: Mapping[str, Any]
    kind: str = "action"  # or callback, listener: which rules hold for the request
    field: str = ""
    values: Mapping[str, str] = {}
    more: str = ""


BODIES: Mapping[str, Body] = {
    "action": Body(
        "The next action",
        "a call starts, or a verb has ended",
        ActionRequest,
        "Sent to the address of a number's route, or of a new call, when the call starts; and to an"
        " address in `action` when a `play`, `say`, `pause` or `flow` has ended; and to that of a"
        " `redirect`.",
        {**_CALL, "event": "start", "customData": {"order": 4711}},
        field="event",
        values={
            "start": "none has run yet: the call has just started",
            "play": "a `play` has ended",
            "say": "a `say` has ended",
            "pause": "a `pause` has ended",
            "flow": "a `flow` has ended",
            "dial": "a `dial` has ended: [its result](dial.md)",
            "gather": "a `gather` has ended by `fallback` or `onError`",
            "record": "a `record` has ended by `onError`",
            "stream": "a `stream` has ended: [its result](stream.md)",
            "redirect": "a `redirect` asks for the next tree",
            "reply": "the response of a webhook was an address",
        },
        more="`privacy` is `true` if the caller has withheld the number in `from`, and `diversion`"
        " lists the numbers that forwarded the call:"
        " [callers and called numbers](../../callers.md). `answeredBy` is the result of the machine"
        " detection that a new call has requested.",
    ),
    "gather": Body(
        "The digits of a gather",
        "a `gather` has ended",
        GatherResult,
        "Sent to the address in `action` of a [`gather`](../verbs/gather.md) when it has ended,"
        " also without any digit. Not sent if no digit was pressed and the gather has a"
        " `fallback`.",
        {
            "callId": CALL, "dtmf": "1234", "to": {"channelId": f"{CALL}.l0"},
            "reason": "terminator", "event": "gather", "customData": {"order": 4711},
        },
        field="reason",
        values={
            "terminator": "the `terminator` was pressed; it is not part of `dtmf`",
            "max-digits": "there were `maxDigits` digits",
            "digit-timeout": "no further digit came within `digitTimeout`",
            "timeout": "there was no digit within `timeout`, or the whole gather took too long",
            "hangup": "the leg hung up: a response has no effect on it",
            "speech": "`speech` was understood",
            "no-match": "the caller spoke, and nothing was understood with `minConfidence`;"
            " `speech` is the best guess",
            "recognizer-failed": "speech cannot be understood, as `recognizerError` says, and"
            " digits are not collected",
        },
        more="`customData` is null if the call has none; `speech` and `confidence` are only there"
        " after an utterance.",
    ),
    "dial": Body(
        "The result of a dial",
        "a `dial` has ended; it is a field of the request for the next action",
        DialResult,
        "The field `dial` of the [request for the next action](action.md), sent to the address in"
        " `action` of a [`dial`](../verbs/dial.md) when the dialed leg has ended, or no party has"
        " answered.",
        {**_CALL, "event": "dial", "dial": _DIALED},
        field="status",
        values={
            "completed": "the parties were connected; `duration` is the conversation",
            "busy": "the party was busy, or its phone forwards its calls (`cause` 23)",
            "no-answer": "no party answered within `timeout`",
            "canceled": "the dial was given up before an answer",
            "failed": "no party could be reached, or called; then `reason` says why",
        },
        more="The table is that of the object `dial`; the other fields of the body are those of the"
        " [request for the next action](action.md). `reason` is `not_allowed`, `do_not_call` or"
        " another word of the [dial policy](../../dnc.md) if the party may not be called.",
    ),
    "record": Body(
        "A recorded message",
        "a `record` has ended and its message is archived",
        RecordResult,
        "Sent to the address in `action` of a [`record`](../verbs/record.md) when the message is"
        " archived, also after the caller has hung up.",
        {
            "callId": CALL, "channelId": f"{CALL}.l0", "reason": "silence", "event": "record",
            "recordingUrl": "https://voice.example.com/recordings/acme/2026-11-26/0195c2f0.wav",
            "recordingPurpose": "voicemail", "duration": 14,
        },
        field="reason",
        values={
            "terminator": "the `terminator` was pressed",
            "silence": "the caller said nothing for `silence` seconds",
            "max-length": "the message was `maxLength` seconds long",
            "hangup": "the caller hung up: a response has no effect",
            "failed": "nothing was recorded",
        },
        more="Without `recordingUrl` there is no recording; without `duration` it is not archived"
        " yet, and will be at that address.",
    ),
    "stream": Body(
        "The result of a stream",
        "a `stream` has ended",
        StreamResult,
        "Sent to the address in `action` of a [`stream`](../verbs/stream.md) when it has ended,"
        " also after the caller has hung up.",
        {
            "callId": CALL, "channelId": f"{CALL}.l0", "streamId": f"{CALL}.w3",
            "reason": "bot-closed", "durationMs": 84210, "heardMs": 31480, "event": "stream",
            "lastMark": "goodbye",
        },
        field="reason",
        values={
            "bot-closed": "the bot closed its websocket, or sent its protocol's `stop`",
            "bot-lost": "the connection to the bot broke, or it closed with the code of an error",
            "stopped": "a request stopped it",
            "max-duration": "it lasted `maxDuration`",
            "hangup": "the caller hung up: a response has no effect",
            "unreachable": "nothing answered at the address, or its certificate is not valid",
            "address-refused": "the address is not allowed: private, or without TLS",
            "no-websocket": "the server answered with a page, a redirect or an error",
            "bot-refused": "the server answered with 401, 403 or another status of 4xx than 404,"
            " 408, 425 and 429: it is not tried again",
            "invalid-message": "the bot sent what its protocol does not have: it is not tried"
            " again",
            "too-large": "a message of the bot was too large: it is not tried again",
            "too-fast": "the bot sent far more audio or messages than can be heard",
            "slow-reader": "the bot did not read what it was sent",
            "gateway-lost": "its gateway ended, and no other could take its place",
            "no-gateway": "no gateway is beside the PBX, or for 30 s none took it",
            "drained": "its gateway was shut down, and no other could take its place",
            "pbx-lost": "the PBX ended the stream's channel",
            "pbx-unreachable": "the PBX could not create a channel for it",
        },
        more="`heardMs` counts the audio that was played to the caller, not the silence between.",
    ),
    "status-callback": Body(
        "A status callback",
        "an event of a call happens",
        CallEvent,
        "Sent to the call's `statusCallbackUrl`, or else to the account's target, for each event of"
        " a call. Which fields each kind has: [events](../events.md). The guide, with gRPC targets"
        " and dead letters: [status callbacks](../../callbacks.md).",
        _EVENT,
        kind="callback",
        more="`switchroom callback test` sends one with the event `test`, whose `callId` is its"
        " `id`.",
    ),
    "listener": Body(
        "A webhook for a listener",
        "`switchroom listen` answers the webhooks of a number or call",
        ListenerRequest,
        "Each of these is in `requests` of the response when a developer's machine polls"
        " `GET /srmain/voice/listeners/{id}/requests`: [webhooks in"
        " development](../../webhooks-in-development.md). `switchroom listen` does that.",
        {
            "id": "0195c2f0a1b24c.r0", "method": "POST", "url": "https://example.com/menu",
            "headers": {"Content-Type": "application/json", "webhook-id": f"{CALL}.r0"},
            "body": '{"callId":"3-pbx1-0195c2f0a1b24c","event":"start"}',
            "untilMs": 1795683615000,
        },
        kind="listener",
    ),
}  # fmt: skip
