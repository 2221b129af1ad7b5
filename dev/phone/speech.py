"""Words that the phone of `switchroom dev call` says.

They have the neural voice of the lab's engine, which recognizers understand; where its package
cannot be installed, the program espeak-ng speaks.
"""

import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from dev.errors import BadOption, CommandFailed, ToolMissing
from dev.phone.g711 import RATE_HZ, encoded, read_wav

MAX_CHARS = 1_000
_VOICE = "heart"
_PEAK = 32_767

Voice = Callable[[str], bytes]


def spoken(text: str, voice: Voice | None = None) -> bytes:
    """Return a text as µ-law, by the best voice that there is; raises LabError."""
    if not text.strip() or len(text) > MAX_CHARS:
        raise BadOption(f"--say: expected 1 to {MAX_CHARS} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadOption("--say: expected text in UTF-8") from None
    best = neural if find_spec("hibari") else espeak
    return (voice or best)(text)


def neural(text: str) -> bytes:
    """Return a text in the voice of the extra `speech`."""
    from hibari import Hibari  # noqa: PLC0415 - takes half a second, and is not everywhere
    from hibari.voices import voice_path  # noqa: PLC0415 - as slow as hibari

    model = Hibari(_VOICE, model=voice_path(_VOICE, download_missing=False), threads=1)
    sound = model(text, seed=0).clip(-1.0, 1.0)
    step = model.sample_rate // RATE_HZ
    # Their mean instead of each third sample: what is higher than a telephone carries would hiss.
    samples = sound[: len(sound) // step * step].reshape(-1, step).mean(axis=1)
    return bytes(encoded(int(each)) for each in samples * _PEAK)


def espeak(text: str, program: str = "espeak-ng") -> bytes:
    """Return a text in the voice of a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.wav")
        argv = (program, "-w", str(path), "--stdin")
        try:
            done = subprocess.run(argv, input=text.encode(), capture_output=True, check=False)
        except FileNotFoundError:
            remedy = "`apt-get install espeak-ng`, or --play a WAV"
            raise ToolMissing("espeak-ng", remedy) from None
        if done.returncode or not path.exists():
            raise CommandFailed(argv, done.stderr.decode(errors="replace"))
        return read_wav(path)
