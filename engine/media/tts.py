"""Text-to-speech providers: hibari and espeak-ng, and the order in which they are tried."""

import asyncio
import re
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from typing import Protocol
from xml.etree import ElementTree as ET

from base.child_processes import kill
from base.fair_slots import FairSlots
from engine.media.clip import MediaError, MediaLimits
from engine.media.worker.process import WorkerPool
from engine.media.worker.protocol import LoadVoice, Synthesize
from wire.media import SSML_ELEMENTS, Speech


class TtsProvider(Protocol):
    @property
    def name(self) -> str:
        """The provider's name; a verb may name it as its voice."""

    @property
    def languages(self) -> frozenset[str]:
        """Primary language subtags in lower case (`en`)."""

    @property
    def voices(self) -> frozenset[str]:
        """The names of its voices."""

    @property
    def ssml(self) -> bool:
        """Whether it supports SSML."""

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return a WAV file of any sample rate, in the account's turn; raises MediaError."""

    async def close(self) -> None:
        """Stop its processes."""


def rank_providers(providers: Sequence[TtsProvider], speech: Speech) -> list[TtsProvider]:
    """Return the providers that support a text: those with its voice first."""
    language = speech.language.split("-")[0].lower()
    able = [p for p in providers if language in p.languages and (p.ssml or not speech.ssml)]
    return sorted(able, key=lambda p: speech.voice not in {p.name, *p.voices})


async def synthesize(
    providers: Sequence[TtsProvider], account: str, speech: Speech
) -> tuple[bytes, str]:
    """Return the WAV file and the name of the first provider that succeeds."""
    failure = MediaError("unknown_language", f"no provider for language {speech.language}")
    for provider in rank_providers(providers, speech):
        try:
            return await provider.synthesize(account, speech), provider.name
        except MediaError as error:
            failure = MediaError("speech_failed", f"{provider.name}: {error.text}")
    raise failure


_DEFAULT_VOICE = "heart"


class Hibari:
    """The hibari provider, in its own worker processes: 2 s for the first text, then 50 ms."""

    name = "hibari"
    languages = frozenset({"en"})
    ssml = False

    def __init__(
        self, limits: MediaLimits, voices: frozenset[str] = frozenset({_DEFAULT_VOICE})
    ) -> None:
        self.voices = voices
        self.workers = WorkerPool(limits, first_job=LoadVoice(_DEFAULT_VOICE), finish_jobs=True)

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return a WAV file in the requested voice if hibari has it, else in the default voice."""
        voice = speech.voice if speech.voice in self.voices else None
        job = Synthesize(speech.text, voice or _DEFAULT_VOICE)
        return (await self.workers.run(account, job)).wav

    async def close(self) -> None:
        await self.workers.close()


_PATH = "/usr/local/bin:/usr/bin:/bin"
_MAX_SYNTHESIS_S = 20
_PROCESSES = 8
_PROCESSES_OF_ACCOUNT = 4
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024
_LANGUAGE = re.compile(r"^ *\d+ +([a-z]{2,3})\b|\(([a-z]{2,3})[\w-]* \d+\)", re.MULTILINE)


class Espeak:
    """The espeak-ng provider; `languages` are those of the installed program."""

    name = "espeak"
    voices: frozenset[str] = frozenset()
    ssml = True

    def __init__(self, program: str, languages: frozenset[str]) -> None:
        self.languages = languages
        self._program = program
        self._slots = FairSlots(_PROCESSES, _PROCESSES_OF_ACCOUNT)

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return a WAV file; the text goes to stdin, so it can't be read as an option."""
        # Markup is sanitized: espeak-ng would read files named in <audio src="...">.
        text = sanitize(speech.text) if speech.ssml else speech.text
        markup = ["-m"] if speech.ssml else []
        voice = ["-v", speech.language]
        async with self._slots.slot(account):
            return await _run(
                self._program, *voice, *markup, "-b", "1", "--stdin", "--stdout", text=text
            )

    async def close(self) -> None:
        """Do nothing: no process runs between texts."""


async def find_espeak(program: str = "espeak-ng") -> Espeak | None:
    """Return the provider, or None if the program is not installed."""
    try:
        listed = await _run(program, "--voices")
    except FileNotFoundError:
        return None
    return Espeak(program, parse_languages(listed.decode()))


def parse_languages(listed: str) -> frozenset[str]:
    """Return the primary language subtags in the output of `espeak-ng --voices`."""
    return frozenset(first or other for first, other in _LANGUAGE.findall(listed))


async def _run(*command: str, text: str = "") -> bytes:
    # Without a text there is no pipe: the process may exit before a write to it.
    stdin = PIPE if text else DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=PIPE, stderr=DEVNULL, env={"LANG": "C.UTF-8", "PATH": _PATH}
    )
    try:
        async with asyncio.timeout(_MAX_SYNTHESIS_S):
            wav = await _communicate(process, text)
    except TimeoutError:
        raise MediaError("speech_failed", f"espeak took longer than {_MAX_SYNTHESIS_S} s") from None
    finally:
        kill(process)
        await process.communicate()
    if process.returncode or not wav:
        raise MediaError("speech_failed", f"espeak returned no audio ({process.returncode})")
    return wav


async def _communicate(process: Process, text: str) -> bytes:
    pipe_in, pipe_out = process.stdin, process.stdout
    if pipe_out is None:
        raise MediaError("speech_failed", "espeak has no pipe")
    if pipe_in is not None:
        pipe_in.write(text.encode())  # a verb's text is smaller than a pipe
        pipe_in.write_eof()
    wav = bytearray()
    while chunk := await pipe_out.read(1 << 16):
        wav += chunk
        if len(wav) > _MAX_OUTPUT_BYTES:  # one <break> can last hours
            raise MediaError("speech_failed", "the spoken text is too long")
    await process.wait()
    return bytes(wav)


def sanitize(text: str) -> str:
    """Rebuild SSML, with or without <speak>, from allowed elements; raises MediaError."""
    if "<!" in text or "<?" in text:  # no entities, so no entity expansion attacks
        raise MediaError("speech_failed", "SSML with a declaration, comment or instruction")
    whole = text if text.lstrip().startswith("<speak") else f"<speak>{text}</speak>"
    try:
        root = ET.fromstring(whole)  # noqa: S314 - no declarations, and a verb's text is small
        return ET.tostring(_copy(root, root.tail), encoding="unicode")
    except RecursionError:
        raise MediaError("speech_failed", "SSML that is nested too deeply") from None
    except ET.ParseError as error:
        raise MediaError("speech_failed", f"SSML that is not well-formed: {error}") from None


def _copy(element: ET.Element, tail: str | None) -> ET.Element:
    """Copy an element; an unknown one, such as <audio>, becomes a plain sentence."""
    name = element.tag.rpartition("}")[2]  # without its XML namespace
    attributes = SSML_ELEMENTS.get(name)
    kept = {key: value for key, value in element.items() if key in (attributes or ())}
    copy = ET.Element(name if attributes is not None else "s", kept)
    copy.text, copy.tail = element.text, tail
    # A list: `extend` turns an error of a generator, such as too deep a recursion, into TypeError.
    copy.extend([_copy(child, child.tail) for child in element])
    return copy
