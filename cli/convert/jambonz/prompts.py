"""The verbs `say`, `play` and `pause`, and the prompt of a gather."""

import re
from typing import Any

from cli.convert.addresses import checked_address, resolved
from cli.convert.jambonz.document import Part
from cli.convert.jambonz.fields import Job, check_known, hook, number, repeats, text, texts
from cli.convert.recognition import checked_language
from cli.convert.result import FOREVER, MAX_REPEATS, Action, verb

_SAID = {"text", "loop", "synthesizer"}
_PLAYED = {"url", "loop", "actionHook", "timeoutSecs"}
_SSML = re.compile(r"\s*<speak\b")
_VOICES = {"vendor", "voice", "engine", "gender"}
MAX_PAUSE_S = 86_400


def say(part: Part, follows: Action, job: Job) -> Action:
    """Convert a text, as often as it is said."""
    spoken = spoken_text(part, job)
    if not spoken:
        return follows
    for _ in range(repeats(part, MAX_REPEATS, job)):
        follows = verb("say", spoken, follows)
    return follows


def play(part: Part, follows: Action, job: Job) -> Action:
    """Convert audio; its `actionHook` decides what follows."""
    data = played_audio(part, job)
    if not data:
        return follows
    if (loop := repeats(part, FOREVER, job)) > 1:
        data["loop"] = loop
    result = verb("play", data, hook(part, "actionHook", job) or follows)
    if "timeoutSecs" in part.fields:
        result["timeout"] = number(part, "timeoutSecs", 60, (0.1, MAX_PAUSE_S), job)
    return result


def pause(part: Part, follows: Action, job: Job) -> Action:
    """Convert a silence."""
    check_known(part, {"length"}, job)
    length = number(part, "length", 1, (0, MAX_PAUSE_S), job)
    return verb("pause", {"length": length}, follows) if length else follows


def spoken_text(part: Part, job: Job) -> dict[str, Any]:
    """Return text, language and whether it is SSML; nothing, with a remark, without a text."""
    check_known(part, _SAID, job)
    found = texts(part, "text", job)
    if not found:
        job.remarks.lose(part, "has no text")
        return {}
    if len(found) > 1:
        job.remarks.note(part, "text: jambonz takes one of several by chance; the first is used")
    ssml = {"ssml": True} if _SSML.match(found[0]) else {}
    return {"text": found[0], **ssml, **_language(part, job)}


def played_audio(part: Part, job: Job) -> dict[str, Any]:
    """Return one address or several; nothing, with a remark, without any."""
    check_known(part, _PLAYED, job)
    addresses = [resolved(job.context.base_url, each) for each in texts(part, "url", job)]
    found = [checked_address(part, "url", each, job.remarks) for each in addresses]
    urls = [each for each in found if each is not None]
    if not addresses:
        job.remarks.lose(part, "has no audio")
    if not urls:
        return {}
    return {"audioUrl": urls[0] if len(urls) == 1 else urls}


def _language(part: Part, job: Job) -> dict[str, str]:
    synthesizer = part.part("synthesizer")
    if synthesizer is None:
        return {}
    check_known(synthesizer, {"language", *_VOICES}, job)
    if _VOICES & synthesizer.fields.keys():
        job.remarks.note(synthesizer, "becomes the voice of the language")
    found = text(synthesizer, "language", job)
    language = checked_language(synthesizer, "" if found == "default" else found, job.remarks)
    return {"language": language} if language else {}
