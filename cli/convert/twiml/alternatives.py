"""TwiML without a counterpart, and what to use instead (docs/migration/from-twilio.md)."""

from collections.abc import Mapping

_AGENTS = "ring a group of agents with a list in `number` of dial"
_MESSAGES = "templates of a messaging platform (docs/messaging.md)"
_BOTS = "a stream connects the caller with a bot of your own (docs/streams/protocols.md)"
_FORKS = "<Start><Stream> forks the audio to a program of your own"
ALTERNATIVES: Mapping[str, str] = {
    "Enqueue": _AGENTS,
    "Leave": _AGENTS,
    "Queue": _AGENTS,
    "Conference": "conference/add-members on a live call makes it a conference (docs/sessions.md)",
    "Refer": "a transfer moves a party of a live call (docs/sessions.md)",
    "Message": _MESSAGES,
    "Sms": _MESSAGES,
    "Pay": "a gather with `sensitive` keeps digits secret (docs/reference/verbs/digits.md)",
    "Prompt": "a gather has its own prompt",
    "Stream": "it belongs into <Connect> or <Start>",
    "VirtualAgent": _BOTS,
    "ConversationRelay": _BOTS,
    "Siprec": _FORKS,
    "Transcription": f"{_FORKS}; recordings may have transcripts (docs/recordings.md)",
    "Recording": '"recordCall": true on the call or the route of the number',
    "Application": "the address of a webhook as `action`, or a stored flow (docs/flows.md)",
}


def alternative(name: str) -> str:
    """Return what to use instead of an element, after a colon; empty if nothing is known."""
    return f": {ALTERNATIVES[name]}" if name in ALTERNATIVES else ""
