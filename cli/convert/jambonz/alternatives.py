"""Verbs without a counterpart, and what to use instead (docs/migration/from-jambonz.md)."""

from collections.abc import Mapping

_AGENTS = "ring a group of agents with a list in `number` of dial"
_BOTS = "a stream connects the caller with a bot of your own (docs/streams/protocols.md)"
_MESSAGES = "templates of a messaging platform (docs/messaging.md)"
_TRANSFER = "a transfer moves a party of a live call (docs/sessions.md)"
TRANSCRIPTS = (
    "a fork with a program of your own hears the call (docs/streams/live-calls.md); recordings may"
    " have transcripts (docs/recordings.md)"
)
RECORDED = '"recordCall": true on the call or the route of the number'
ALTERNATIVES: Mapping[str, str] = {
    "alert": "with `answer: false` on the route of the number, a call rings until it is answered",
    "cognigy": _BOTS,
    "conference": "conference/add-members on a live call makes it a conference (docs/sessions.md)",
    "dequeue": _AGENTS,
    "dialogflow": _BOTS,
    "dtmf": "digits cannot be sent to a party",
    "dub": "a bot of a stream may speak and play at once",
    "enqueue": _AGENTS,
    "leave": _AGENTS,
    "lex": _BOTS,
    "llm": _BOTS,
    "message": _MESSAGES,
    "rasa": _BOTS,
    "sip:refer": _TRANSFER,
    "sip:request": _TRANSFER,
    "tag": "`customData` or `labels` of the call or of the number's route",
    "transcribe": TRANSCRIPTS,
}
