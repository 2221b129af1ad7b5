"""When each kind of call event is emitted, and which fields it has beside those of all."""

from collections.abc import Mapping
from typing import NamedTuple

_LEG = ("channelId", "parentCallId", "party", "answeredBy")
_SESSION = ("sessionId", "sessionState", "reason", "requestedBy")
_ENDED = ("hangupCause", "sipCode", "endedBy", "reason", "duration", "durationMs")
_RECORDING = ("recordingUrl", "recordingPurpose", "recordingDuration")


class EventText(NamedTuple):
    """A kind of event: when it is emitted, and its own fields."""

    when: str
    fields: tuple[str, ...]


class Family(NamedTuple):
    """Kinds of events that are on one page, and an example of one of them."""

    title: str
    about: str
    events: Mapping[str, EventText]
    example: Mapping[str, object]


FAMILIES: Mapping[str, Family] = {
    "calls": Family(
        "Events of calls",
        "The call as a whole. `completed` is always the last event, however the call ended, and has"
        " the call's record. Why it ended: [`endedBy` and"
        " `reason`](../../events.md#how-a-call-ended).",
        {
            "initiated": EventText("The call exists: it came in, or was created.", ("channelId",)),
            "ringing": EventText(
                "The phone has sent 180; a carrier that sends only 183 causes none.",
                ("channelId", "party"),
            ),
            "answered": EventText("The call is answered.", ("channelId", "party")),
            "completed": EventText(
                "The call has ended.",
                ("channelId", *_ENDED, "endedByChannelId", "answeredBy", *_RECORDING, "record"),
            ),
        },
        {"event": "answered", "callStatus": "in-progress", "channelId": "3-pbx1-0195c2f0a1b24c.l0"},
    ),
    "legs": Family(
        "Events of legs",
        "Each called leg of a call, and the control of legs. `parentCallId` is the call that a"
        " called leg was added to. Why one ended: [`endedBy` and"
        " `reason`](../../events.md#how-a-call-ended).",
        {
            "leg-initiated": EventText("A party is called.", _LEG),
            "leg-ringing": EventText("Its phone rings.", _LEG),
            "leg-answered": EventText("It has answered.", _LEG),
            "leg-completed": EventText("The leg has ended.", (*_LEG, "legStatus", *_ENDED)),
            "leg-muted": EventText("A leg is muted.", (*_LEG, "muted")),
            "leg-unmuted": EventText("A leg is no longer muted.", (*_LEG, "muted")),
            "leg-held": EventText(
                "A leg is on hold; with the reason `phone`, hold was pressed on its phone.",
                (*_LEG, "reason"),
            ),
            "leg-unheld": EventText("A leg is no longer on hold.", (*_LEG, "reason")),
        },
        {
            "event": "leg-answered", "callStatus": "in-progress",
            "channelId": "3-pbx1-0195c2f0a1b24c.l1", "parentCallId": "3-pbx1-0195c2f0a1b24c",
            "party": "agent:1001", "agent_id": "1001",
        },
    ),
    "sessions": Family(
        "Events of transfers and conferences",
        "A session or a member has entered a state, which `sessionState` names:"
        " [the states](../../sessions.md).",
        {
            "transfer": EventText(
                "A transfer has entered a state.", ("channelId", "party", "mode", *_SESSION)
            ),
            "conference": EventText("A conference has entered a state.", _SESSION),
            "conference-member": EventText(
                "A member of a conference has entered a state.", ("channelId", "party", *_SESSION)
            ),
        },
        {
            "event": "transfer", "callStatus": "in-progress",
            "sessionId": "3-pbx1-0195c2f0a1b24c.t2", "sessionState": "ringback", "mode": "attended",
            "party": "agent:1002", "agent_id": "1001", "requestedBy": "1001",
        },
    ),
    "streams": Family(
        "Events of streams",
        "A media stream has entered a state, which `sessionState` names: `started`, `connected`"
        " when the bot has accepted it, `lost`, `resumed` when another one takes its place,"
        " `ended`. The reasons of `ended` are those of"
        " [a stream](../webhooks/stream.md#values-of-reason), and `too-many-forks` of a fork that"
        " has not started.",
        {
            "stream": EventText(
                "A stream has entered a state.",
                ("channelId", "sessionId", "sessionState", "mode", "reason", "durationMs"),
            ),
        },
        {
            "event": "stream", "callStatus": "in-progress",
            "channelId": "3-pbx1-0195c2f0a1b24c.l0", "sessionId": "3-pbx1-0195c2f0a1b24c.w3",
            "sessionState": "ended", "mode": "twilio", "reason": "bot-closed", "durationMs": 84210,
        },
    ),
    "media": Family(
        "Events of digits, detection and recordings",
        "What a caller pressed, who answered, what was recorded, and audio that failed. The reasons"
        " of `gathered` are those of [a gather](../webhooks/gather.md#values-of-reason), of"
        " `recorded` those of [a record](../webhooks/record.md#values-of-reason), and of"
        " `media-failed` those of [callbacks](../../callbacks.md#the-request).",
        {
            "gathered": EventText(
                "A gather has ended; `dtmf` is empty if the digits are sensitive. `speech` and"
                " `confidence` are only there after an utterance.",
                ("channelId", "dtmf", "reason", "speech", "confidence"),
            ),
            "machine-detection": EventText(
                "Machine detection has a result.", (*_LEG,)
            ),
            "recording-started": EventText("The recording of the call starts.", ("channelId",)),
            "recording-paused": EventText("It is paused.", ("channelId",)),
            "recording-resumed": EventText("It continues.", ("channelId",)),
            "recording-stopped": EventText("It has stopped.", ("channelId",)),
            "recorded": EventText(
                "A message of the verb `record` is archived, or will be.",
                ("channelId", "reason", *_RECORDING),
            ),
            "media-failed": EventText(
                "Audio could not be played to a leg; once for each source that could not be"
                " fetched.",
                ("channelId", "source", "reason"),
            ),
        },
        {
            "event": "gathered", "callStatus": "in-progress",
            "channelId": "3-pbx1-0195c2f0a1b24c.l0", "dtmf": "1", "reason": "max-digits",
        },
    ),
}  # fmt: skip
