"""Transcodes an untrusted audio file into a clip file; runs in a worker process."""

import wave
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer

from engine.media.clip import SAMPLE_RATE_HZ, MediaError
from engine.media.worker.protocol import Transcode

PAGE_HEADER_BYTES, BEGINS_STREAM = 27, 0x02  # of Ogg
SILENT = 32  # the highest sample of what is not heard: -60 dB of full scale


def transcode(job: Transcode) -> bool:
    """Write the clip file; return whether anything of it is heard.

    Raises MediaError (not_audio, unreadable, too_long).
    """
    try:
        # Two channels with inverted phase cancel each other out.
        return _transcode(job, _samples) or _transcode(job, _left_samples)
    except av.FFmpegError as error:  # its own text has the name of the file
        raise MediaError("unreadable", f"the audio does not decode: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise MediaError("unreadable", "the audio does not decode") from error


def _transcode(job: Transcode, read: Callable[[InputContainer], Iterator[bytes]]) -> bool:
    with Path(job.path).open("rb") as file:
        if not file.peek(1):  # PyAV would print a traceback
            raise MediaError("unreadable", "the file is empty")
        parts = map(BytesIO, _links(file.read())) if job.container == "ogg" else [file]
        return _write(job, chain.from_iterable(_read(each, job.container, read) for each in parts))


def _read(
    file: BinaryIO, container: str, read: Callable[[InputContainer], Iterator[bytes]]
) -> Iterator[bytes]:
    # The demuxer is fixed and protocols are disabled: a playlist can't open other files.
    options = {"protocol_whitelist": "none"}
    # Titles and names of artists may be in any encoding. What ends within its header has no audio.
    with (
        suppress(EOFError),
        av.open(file, "r", format=container, options=options, metadata_errors="ignore") as opened,
    ):
        yield from read(opened)


def _links(data: bytes) -> Iterator[bytes]:
    """Split a chained Ogg file: FFmpeg reads only chains of one codec and number of channels.

    A link begins with a page, or several, whose type says so (RFC 3533, sections 4 and 6).
    """
    start, at, was_first = 0, 0, True
    while (at := data.find(b"OggS", at)) >= 0 and at + PAGE_HEADER_BYTES <= len(data):
        is_first = bool(data[at + 5] & BEGINS_STREAM)
        if is_first and not was_first:
            yield data[start:at]
            start = at
        was_first = is_first
        body = at + PAGE_HEADER_BYTES
        segments = data[body : body + data[body - 1]]
        at = body + len(segments) + sum(segments)
    yield data[start:]


def _write(job: Transcode, samples: Iterator[bytes]) -> bool:
    """Write the samples; return whether any of them is heard."""
    max_bytes = job.max_ms * SAMPLE_RATE_HZ // 1000 * 2
    written, is_heard = 0, False
    with wave.open(job.target, "wb") as clip:
        clip.setparams((1, 2, SAMPLE_RATE_HZ, 0, "NONE", "not compressed"))
        for chunk in samples:
            written += len(chunk)
            if written > max_bytes:
                raise MediaError("too_long", f"longer than {job.max_ms / 1000:g} s")
            clip.writeframesraw(chunk)
            is_heard = is_heard or _peak(chunk) > SILENT
    if not written:
        raise MediaError("unreadable", "no audio samples")
    return is_heard


def _peak(chunk: bytes) -> int:
    samples = array("h", chunk)
    return max(max(samples, default=0), -min(samples, default=0))


def _samples(opened: InputContainer) -> Iterator[bytes]:
    return (_bytes(each, 1) for each in _resampled(opened, "mono"))


def _left_samples(opened: InputContainer) -> Iterator[bytes]:
    for each in _resampled(opened, "stereo"):
        yield array("h", _bytes(each, 2))[::2].tobytes()


def _resampled(opened: InputContainer, layout: str) -> Iterator[AudioFrame]:
    if not opened.streams.audio:
        raise MediaError("not_audio", "no audio track")
    # Prompts that were joined to one file change channels or sample rate in it.
    for _, frames in groupby(_frames(opened, opened.streams.audio[0]), _format):
        resampler = AudioResampler("s16", layout, SAMPLE_RATE_HZ)
        for frame in frames:
            frame.pts = None  # gaps in the timestamps do not become silence
            yield from resampler.resample(frame)
        yield from resampler.resample(None)


def _format(frame: AudioFrame) -> tuple[str, str, int]:
    return frame.format.name, frame.layout.name, frame.sample_rate


def _frames(opened: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Decode all packets; skip damaged ones, as players do."""
    for packet in opened.demux(stream):
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            continue


def _bytes(frame: AudioFrame, channels: int) -> bytes:
    return bytes(frame.planes[0])[: frame.samples * channels * 2]  # a plane is padded
