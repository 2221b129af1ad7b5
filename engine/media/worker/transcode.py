"""Transcodes an untrusted audio file into a clip file; runs in a worker process."""

import wave
from collections.abc import Iterator
from pathlib import Path

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from engine.media.clip import SAMPLE_RATE_HZ, MediaError
from engine.media.worker.protocol import Transcode


def transcode(job: Transcode) -> None:
    """Write the clip file; raises MediaError (not_audio, unreadable, too_long)."""
    try:
        # The demuxer is fixed and protocols are disabled: a playlist can't open other files.
        with Path(job.path).open("rb") as file:
            if not file.peek(1):  # PyAV would print a traceback
                raise MediaError("unreadable", "the file is empty")
            options = {"protocol_whitelist": "none"}
            with av.open(file, "r", format=job.container, options=options) as opened:
                _write(job, _samples(opened))
    except av.FFmpegError as error:  # its own text has the name of the file
        raise MediaError("unreadable", f"the audio does not decode: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise MediaError("unreadable", "the audio does not decode") from error


def _write(job: Transcode, samples: Iterator[bytes]) -> None:
    max_bytes = job.max_ms * SAMPLE_RATE_HZ // 1000 * 2
    written = 0
    with wave.open(job.target, "wb") as clip:
        clip.setparams((1, 2, SAMPLE_RATE_HZ, 0, "NONE", "not compressed"))
        for chunk in samples:
            written += len(chunk)
            if written > max_bytes:
                raise MediaError("too_long", f"longer than {job.max_ms / 1000:g} s")
            clip.writeframesraw(chunk)
    if not written:
        raise MediaError("unreadable", "no audio samples")


def _samples(opened: InputContainer) -> Iterator[bytes]:
    if not opened.streams.audio:
        raise MediaError("not_audio", "no audio track")
    resampler = AudioResampler("s16", "mono", SAMPLE_RATE_HZ)
    for frame in _frames(opened, opened.streams.audio[0]):
        frame.pts = None  # gaps in the timestamps do not become silence
        for out in resampler.resample(frame):
            yield _bytes(out)
    for out in resampler.resample(None):
        yield _bytes(out)


def _frames(opened: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Decode all packets; skip damaged ones, as players do."""
    for packet in opened.demux(stream):
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            continue


def _bytes(frame: AudioFrame) -> bytes:
    return bytes(frame.planes[0])[: frame.samples * 2]  # a plane is padded
