"""Every other language, and SSML, by the espeak-ng program: a process a text."""

import asyncio
import re
from asyncio.subprocess import DEVNULL, PIPE, Process

from engine.media.clip import MediaError
from engine.media.tts.ssml import sanitize
from wire.media import Speech

_MAX_SYNTHESIS_S = 20
_MAX_OUTPUT_BYTES = 64 * 1024 * 1024
_LANGUAGE = re.compile(r"^ *\d+ +([a-z]{2,3})\b|\(([a-z]{2,3})[\w-]* \d+\)", re.MULTILINE)


class Espeak:
    """Speaks by running espeak-ng; `languages` is what the program installed offers."""

    name = "espeak"
    voices: frozenset[str] = frozenset()
    ssml = True

    def __init__(self, program: str, languages: frozenset[str]) -> None:
        self.languages = languages
        self._program = program

    async def speak(self, speech: Speech) -> bytes:
        """Speak at espeak's ordinary pace; the text goes in by stdin, where no option is read."""
        # Unclean markup would let a text read files: espeak-ng obeys <audio src="...">.
        text = sanitize(speech.text) if speech.ssml else speech.text
        markup = ["-m"] if speech.ssml else []
        voice = ["-v", speech.language]
        return await _run(
            self._program, *voice, *markup, "-b", "1", "--stdin", "--stdout", text=text
        )

    async def close(self) -> None:
        """Nothing runs between texts."""


async def find_espeak(program: str = "espeak-ng") -> Espeak | None:
    """Ask the program for its languages; None when it is not installed."""
    try:
        listed = await _run(program, "--voices")
    except FileNotFoundError:
        return None
    return Espeak(program, parse_languages(listed.decode()))


def parse_languages(listed: str) -> frozenset[str]:
    """Primary language subtags in the table of `espeak-ng --voices`."""
    return frozenset(first or other for first, other in _LANGUAGE.findall(listed))


async def _run(*command: str, text: str = "") -> bytes:
    # Who reads no text may have ended before it could be written.
    reads = PIPE if text else DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=reads, stdout=PIPE, stderr=DEVNULL, env={"LANG": "C.UTF-8", "PATH": _PATH}
    )
    try:
        async with asyncio.timeout(_MAX_SYNTHESIS_S):
            wav = await _communicate(process, text)
    except TimeoutError:
        raise MediaError("speech_failed", f"espeak took longer than {_MAX_SYNTHESIS_S} s") from None
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
    if process.returncode or not wav:
        raise MediaError("speech_failed", f"espeak said nothing ({process.returncode})")
    return wav


_PATH = "/usr/local/bin:/usr/bin:/bin"


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
        if len(wav) > _MAX_OUTPUT_BYTES:  # one <break> can ask for hours
            raise MediaError("speech_failed", "the spoken text is too long")
    await process.wait()
    return bytes(wav)
