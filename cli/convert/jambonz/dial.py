"""The verb `dial` with its targets."""

from typing import Any

from cli.convert.context import with_country
from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import TRANSCRIPTS, Job, check_known, flag, hook, text, whole
from cli.convert.jambonz.listen import fork
from cli.convert.parties import agent_party, phone_number, sip_party
from cli.convert.result import MAX_PARTIES, Action, verb

_RING_S = 60  # without `timeout`
_KNOWN = {"target", "actionHook", "timeout", "timeLimit", "callerId", "answerOnBridge", "listen"}
_ANSWERING = "`whisper` or `confirm` of the dial (docs/answering.md)"
_HINTS = {
    "amd": "`machineDetection` of the dial (docs/answering.md)",
    "boostAudioSignal": "phones and carriers set the volume",
    "callerName": "the number is shown without a name",
    "confirmHook": _ANSWERING,
    "dialMusic": "`moh` plays the account's music",
    "dtmfCapture": "digits of a conversation go to the other party",
    "dtmfHook": "digits of a conversation go to the other party",
    "headers": "the trunk has its own",
    "proxy": "PBX_TRUNK of a node is the way to the carrier",
    "referHook": "a transfer moves a party (docs/sessions.md)",
    "transcribe": TRANSCRIPTS,
}
_TARGET_HINTS = {
    "auth": "a trunk has user and password",
    "confirmHook": _ANSWERING,
    "headers": "the trunk has its own",
    "trunk": "PBX_TRUNK of a node is the way to the carrier",
}
_FIELDS = {"phone": "number", "sip": "sipUri", "user": "name"}


def dial(part: Part, follows: Action, job: Job) -> Action:
    """Convert a dial; without a party that can be called it is left out."""
    check_known(part, _KNOWN, job, _HINTS)
    after = hook(part, "actionHook", job) or follows
    parties = [each for each in (_party(part, target, job) for target in _targets(part)) if each]
    if len(parties) > MAX_PARTIES:
        job.remarks.lose(part, f"only the first {MAX_PARTIES} parties are called")
    if not parties:
        job.remarks.lose(part, "has no party that can be called and is left out")
        return after
    called = parties[:MAX_PARTIES]
    data: dict[str, Any] = {"number": called[0] if len(called) == 1 else called}
    if "timeLimit" in part.fields:
        data["timeLimit"] = whole(part, "timeLimit", 14_400, (1, 86_400), job)
    if number := _number(part, "callerId", job):
        data["callerId"] = number
    if flag(part, "answerOnBridge", job, default=False):
        text_ = 'answerOnBridge is not converted: set "answer": false on the route of the number'
        job.remarks.lose(part, text_)
    timeout = whole(part, "timeout", _RING_S, (1, 86_400), job)
    result: Action = {**verb("dial", data, after), "timeout": timeout}
    listener = part.part("listen")
    if listener is None:
        return result
    job.remarks.note(listener, "listens until the call ends, not only to the conversation")
    return fork(listener, result, job)


def _targets(part: Part) -> list[Any]:
    given = part.fields.get("target", [])
    return given if isinstance(given, list) else [given]


def _party(part: Part, given: Any, job: Job) -> str:
    """Return the party of a target; empty, with a remark, for one that cannot be called."""
    fields = given if isinstance(given, dict) else {}
    target, kind = Part(f"{part.label}.target", part.line, fields), fields.get("type")
    name = _FIELDS.get(kind) if isinstance(kind, str) else None
    if name is None:
        job.remarks.lose(target, f"type: {', '.join(_FIELDS)} are expected, not {kind!r}")
        return ""
    check_known(target, {"type", "method", name}, job, _TARGET_HINTS)
    match kind:
        case "phone":
            return _number(target, name, job)
        case "sip":
            return sip_party(target, text(target, name, job), job.remarks)
        case _:
            user, _, _host = text(target, name, job).partition("@")
            return agent_party(target, user, job.remarks)


def _number(part: Part, name: str, job: Job) -> str:
    """Return a number with its country; empty without one."""
    given = text(part, name, job)
    if not given and name == "callerId":
        return ""
    region = job.context.region
    full = with_country(part, given, region, job.remarks) if region else given
    return phone_number(part, name, full, job.remarks)
