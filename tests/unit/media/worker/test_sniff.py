"""Containers are detected by their first bytes."""

import pytest

from engine.media.worker.sniff import detect_container

AUDIO = [
    (b"RIFF\x24\x00\x00\x00WAVEfmt ", "wav"),
    (b"RF64\xff\xff\xff\xffWAVEds64", "wav"),
    (b"BW64\xff\xff\xff\xffWAVEds64", "wav"),
    (b"ID3\x04\x00", "mp3"),
    (b"\r\nID3\x04\x00", "mp3"),
    (b"\r\n\xff\xfb\x90\x64", "mp3"),
    (bytes(2_000) + b"\xff\xfb\x90\x64", "mp3"),
    (b"\0\xff\xf1\x50\x80", "aac"),
    (b"\xff\xfb\x90\x64", "mp3"),
    (b"\xff\xf3\x40\xc0", "mp3"),
    (b"OggS\x00\x02", "ogg"),
    (b"fLaC\x00\x00", "flac"),
    (b"\x00\x00\x00\x1cftypM4A ", "mov"),
    (b"\x1a\x45\xdf\xa3\x9f", "matroska"),
    (b"#!AMR\n\x3c", "amr"),
    (b"#!AMR-WB\n", "amr"),
    (b"\xff\xf1\x50\x80", "aac"),
    (b"\xff\xf9\x4c\x80", "aac"),
    (b"\xff\xfd\xe4\x04", "mp3"),  # layer II
    (b"FORM\x00\x02\xee.AIFF", "aiff"),
    (b"FORM\x00\x02\xee.AIFC", "aiff"),
    (b".snd\x00\x00\x00 ", "au"),
    (b"caff\x00\x01\x00\x00desc", "caf"),
]
OTHER = [
    b"",
    b"\xff",
    b"\xff\xfe<\x00h\x00",  # UTF-16 text
    bytes(4_096),
    b"\n\n<!doctype html>",
    b"\xff\xd8\xff\xe0",  # JPEG
    b"\xff\xf1\x7c\x80",  # a reserved sample rate of ADTS
    b"\xff\xe1\x50\x80",  # layer 0 with the short sync word
    b"FORM\x00\x02\xee.ILBM",  # a picture
    b"RIFF\x24\x00\x00\x00AVI LIST",
    b"<!doctype html>",
    b"#EXTM3U\n#EXTINF:10,",
    b"ffconcat version 1.0",
    b"[playlist]\nFile1=",
    b"PK\x03\x04",
    b"\x00\x00\x00\x00moov",
]


@pytest.mark.parametrize(("head", "kind"), AUDIO)
def test_audio(head: bytes, kind: str) -> None:
    """Each format that is played is known by its magic."""
    assert detect_container(head) == kind


@pytest.mark.parametrize("head", OTHER)
def test_anything_else(head: bytes) -> None:
    """Pages, playlists, pictures and text are no audio."""
    assert detect_container(head) is None
