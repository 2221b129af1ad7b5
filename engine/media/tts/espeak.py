"""Synthesizes other languages and SSML with espeak-ng, one process per text."""

import asyncio
import re
from asyncio.subprocess import DEVNULL, PIPE, Process

from base.child_processes import kill
from base.fair_slots import FairSlots
from engine.media.clip import MediaError
from engine.media.tts.ssml import sanitize
from wire.media import Speech

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
