"""The worker process: decodes untrusted audio and runs neural voices outside the engine.

Started as `python -m engine.media.worker.main MEMORY_BYTES JOB_S PARENT_PID [FOLDER]`.
FOLDER has the files of its jobs; it can open no others, nor the network, nor start programs.
Jobs arrive on stdin, replies go to stdout.
It ends with its parent: at the end of the pipe or, during a job, by a signal.
"""

import io
import os
import resource
import signal
import sys
import wave
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from base.sandbox import (
    ResourceLimits,
    allowed_limit,
    end_with_parent,
    report,
    restrict,
    set_limits,
)
from engine.media.clip import MediaError, Reason
from engine.media.worker import protocol

if TYPE_CHECKING:
    from hibari import Hibari

_FILE_BYTES = 256 * 1024 * 1024
_OPEN_FILES = 256
_VOICES = Path("~/.cache/hibari")


def main(memory_bytes: int, job_s: int, parent_pid: int, *folders: Path) -> None:
    """Run jobs until the engine closes the pipe."""
    _die_with(parent_pid)
    os.nice(5)  # live calls first
    set_limits(ResourceLimits(memory_bytes, _FILE_BYTES, _OPEN_FILES))
    restrict([_VOICES.expanduser()], folders)
    # Native libraries print to descriptor 1; the replies keep a private one.
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        while (job := protocol.read_job(sys.stdin.buffer)) is not None:
            if not isinstance(job, protocol.LoadVoice):
                limit_cpu(job_s)
            replies.write(protocol.frame(_run_job(job)))
            replies.flush()


def _run_job(job: protocol.Job) -> protocol.Reply:
    try:
        match job:
            case protocol.Transcode():
                # Imported by the job: each worker loads only the libraries it uses.
                from engine.media.worker.transcode import transcode  # noqa: PLC0415 - PyAV is not for synthesis

                return protocol.JobDone(is_silent=not transcode(job))
            case protocol.Synthesize(text, voice):
                return protocol.JobDone(_synthesize(text, voice))
            case protocol.LoadVoice(voice):
                _synthesize("a", voice)  # the first text takes most of a second
                return protocol.JobDone()
    except MediaError as failure:
        return protocol.JobFailed(failure.reason, failure.text)
    except Exception as error:  # noqa: BLE001 - any error of a library fails only its job
        # Customers read the reply; the engine's log has the error, which may name files.
        reason, text = _failure(job)
        report(f"media worker: {text}: {error!r}")
        return protocol.JobFailed(reason, text)


def _failure(job: protocol.Job) -> tuple[Reason, str]:
    match job:
        case protocol.Transcode():
            return "unreadable", "the audio can't be decoded"
        case protocol.Synthesize() | protocol.LoadVoice():
            return "speech_failed", "the text can't be spoken"


def _synthesize(text: str, voice: str) -> bytes:
    model = _load_voice(voice)
    sound = model(text, seed=0)  # deterministic: the same text gives the same clip
    if not len(sound):
        raise MediaError("speech_failed", "no speech in the text")
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, model.sample_rate, 0, "NONE", "not compressed"))
        wav.writeframes((sound.clip(-1.0, 1.0) * 32767.0).astype("<i2").tobytes())
    return file.getvalue()


@lru_cache(maxsize=2)
def _load_voice(name: str) -> "Hibari":
    from hibari import Hibari  # noqa: PLC0415 - takes half a second; only synthesis needs it
    from hibari.voices import voice_path  # noqa: PLC0415 - as slow as hibari

    # By default hibari downloads a missing model.
    return Hibari(name, model=voice_path(name, download_missing=False), threads=1)


def limit_cpu(job_s: int) -> None:
    """Limit the CPU time of the job that begins."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    # The kernel counts whole seconds: rounded down, a job would have up to one less.
    limit = allowed_limit(resource.RLIMIT_CPU, ceil(used.ru_utime + used.ru_stime) + job_s)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _die_with(parent_pid: int) -> None:
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the call above
        sys.exit()


if __name__ == "__main__":
    _memory_bytes, _job_s, _parent_pid = map(int, sys.argv[1:4])
    main(_memory_bytes, _job_s, _parent_pid, *map(Path, sys.argv[4:]))
