"""The verb `listen`: the caller talks with a bot; or, in other verbs, a bot listens to the call."""

import json
from typing import Any

from cli.convert.addresses import resolved_stream, stream_address
from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import TRANSCRIPTS, Job, check_known, flag, hook, number, text
from cli.convert.result import Action, verb

RATES = (8_000, 16_000, 24_000)
MAX_DURATION_S = 86_400
_KNOWN = {"url", "metadata", "mixType", "sampleRate"}
_TALK = {"actionHook", "maxLength", "passDtmf", "bidirectionalAudio", "disableBidirectionalAudio"}
_OF_BIDIRECTIONAL = {"enabled", "streaming", "sampleRate"}
_AUTH = "the handshake is signed, as webhooks are (docs/callbacks.md)"
_HINTS = {
    "auth": _AUTH,
    "wsAuth": _AUTH,
    "finishOnKey": "digits go to the bot, which closes the websocket when it has enough",
    "playBeep": "write a play of a beep before it",
    "timeout": "the bot hears the silence, and closes the websocket",
    "transcribe": TRANSCRIPTS,
}
_TRACKS = {"mono": "caller", "mixed": "both", "stereo": "both"}


def listen(part: Part, follows: Action, job: Job) -> Action:
    """Convert a conversation with a bot; what follows runs when the bot closes its websocket."""
    check_known(part, _KNOWN | _TALK, job, _HINTS)
    data = _data(part, job)
    if not data:
        return follows
    if "maxLength" in part.fields:
        data["maxDuration"] = number(part, "maxLength", 60, (1, MAX_DURATION_S), job)
    if _mix_type(part, job) != "mono":
        job.remarks.lose(part, "mixType is not converted: a bot that talks hears the caller")
    if flag(part, "disableBidirectionalAudio", job, default=False):
        job.remarks.note(part, "disableBidirectionalAudio: what the bot sends is heard")
    if "passDtmf" not in part.fields or not flag(part, "passDtmf", job, default=False):
        job.remarks.note(part, "passDtmf: the bot gets each digit in any case")
    _check_bidirectional(part, data["rate"], job)
    return verb("stream", data, hook(part, "actionHook", job) or follows)


def fork(part: Part, follows: Action, job: Job) -> Action:
    """Convert a listener beside the call, of `config` or `dial`; what follows runs at once."""
    check_known(part, _KNOWN | {"enable"}, job, _HINTS)
    data = _data(part, job)
    if not data:
        return follows
    mix_type = _mix_type(part, job)
    if mix_type == "stereo":
        job.remarks.note(part, "mixType stereo: both voices are mixed; two forks have one each")
    return verb("stream", {**data, "fork": True, "track": _TRACKS[mix_type]}, follows)


def _data(part: Part, job: Job) -> dict[str, Any]:
    """Return address, protocol, rate and parameters; nothing, with a remark, without an address."""
    address = resolved_stream(job.context.base_url, text(part, "url", job))
    url = stream_address(part, address, job.remarks)
    if url is None:
        return {}
    data: dict[str, Any] = {"url": url, "protocol": "jambonz", "rate": _rate(part, job)}
    if parameters := _parameters(part, job):
        data["parameters"] = parameters
    return data


def _rate(part: Part, job: Job) -> int:
    rate = part.fields.get("sampleRate", RATES[0])
    if rate in RATES:
        return int(rate)
    allowed = ", ".join(map(str, RATES))
    used = RATES[-1] if isinstance(rate, int) and rate > RATES[-1] else RATES[0]
    job.remarks.lose(part, f"sampleRate: {allowed} are expected, not {rate!r}; {used} is used")
    return used


def _parameters(part: Part, job: Job) -> dict[str, str]:
    """Return the metadata, whose values are texts here."""
    metadata = part.fields.get("metadata", {})
    if not isinstance(metadata, dict):
        job.remarks.lose(part, "metadata: an object is expected")
        return {}
    if any(not isinstance(each, str) for each in metadata.values()):
        job.remarks.note(part, "metadata: values that are no texts become JSON")
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in metadata.items()
    }


def _mix_type(part: Part, job: Job) -> str:
    mix_type = text(part, "mixType", job) or "mono"
    if mix_type in _TRACKS:
        return mix_type
    job.remarks.lose(part, f"mixType: {', '.join(_TRACKS)} are expected, not {mix_type!r}")
    return "mono"


def _check_bidirectional(part: Part, rate: int, job: Job) -> None:
    audio = part.part("bidirectionalAudio")
    if audio is None:
        return
    check_known(audio, _OF_BIDIRECTIONAL, job)
    if audio.fields.get("sampleRate", rate) != rate:
        job.remarks.lose(audio, f"sampleRate is not converted: both directions have {rate}")
