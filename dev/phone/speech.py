"""Words that the phone of `switchroom dev call` says, spoken by the program espeak-ng."""

import subprocess
import tempfile
from pathlib import Path

from dev.errors import BadOption, CommandFailed, ToolMissing
from dev.phone.g711 import read_wav

MAX_CHARS = 1_000


def spoken(text: str, program: str = "espeak-ng") -> bytes:
    """Return a text as µ-law; raises LabError."""
    if not text.strip() or len(text) > MAX_CHARS:
        raise BadOption(f"--say: expected 1 to {MAX_CHARS} characters")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.wav")
        argv = (program, "-w", str(path), "--stdin")
        try:
            done = subprocess.run(argv, input=text.encode(), capture_output=True, check=False)
        except FileNotFoundError:
            remedy = "`apt-get install espeak-ng`, or --play a WAV"
            raise ToolMissing("espeak-ng", remedy) from None
        except UnicodeEncodeError:
            raise BadOption("--say: expected text in UTF-8") from None
        if done.returncode or not path.exists():
            raise CommandFailed(argv, done.stderr.decode(errors="replace"))
        return read_wav(path)
