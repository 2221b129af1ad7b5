"""The worker process: decodes untrusted audio and runs neural voices outside the engine.

Started as `python -m engine.media.worker.main MEMORY_BYTES JOB_S PARENT_PID`.
Jobs arrive on stdin, replies go to stdout.
It ends with its parent: at the end of the pipe or, during a job, by a signal.
"""

import ctypes
import io
import os
import resource
import signal
import sys
import wave
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.media.clip import MediaError, Reason
from engine.media.worker.protocol import (
    Job,
    JobDone,
    JobFailed,
    Reply,
    Synthesize,
    Transcode,
    frame,
    read_job,
)

if TYPE_CHECKING:
    from hibari import Hibari

_PR_SET_PDEATHSIG = 1
_FILE_BYTES = 256 * 1024 * 1024


def main(memory_bytes: int, job_s: int, parent_pid: int) -> None:
    """Run jobs until the engine closes the pipe."""
    _die_with(parent_pid)
    _set_limits(memory_bytes)
    # Native libraries print to descriptor 1; the replies keep a private one.
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        while (job := read_job(sys.stdin.buffer)) is not None:
            _limit_cpu(job_s)
            replies.write(frame(_run_job(job)))
            replies.flush()


def _run_job(job: Job) -> Reply:
    try:
        match job:
            case Transcode():
                # Imported by the job: each worker loads only the libraries it uses.
                from engine.media.worker.transcode import transcode  # noqa: PLC0415 - PyAV is not for synthesis

                transcode(job)
                return JobDone()
            case Synthesize(text, voice):
                return JobDone(_synthesize(text, voice))
    except MediaError as failure:
        return JobFailed(failure.reason, failure.text)
    except Exception as error:  # noqa: BLE001 - any error of a library fails only its job
        # Customers read the reply; the engine's log has the error, which may name files.
        reason, text = _failure(job)
        sys.stderr.write(f"media worker: {text}: {error!r}\n")
        return JobFailed(reason, text)


def _failure(job: Job) -> tuple[Reason, str]:
    match job:
        case Transcode():
            return "unreadable", "the audio can't be decoded"
        case Synthesize():
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


def _set_limits(memory_bytes: int) -> None:
    os.nice(5)  # live calls first
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_cpu(job_s: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + job_s, hard))


def _die_with(parent_pid: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the call above
        sys.exit()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:4]))
