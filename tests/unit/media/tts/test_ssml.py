"""SSML is rebuilt from elements that only shape speech."""

import pytest

from engine.media.clip import MediaError
from engine.media.tts.ssml import sanitize


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Hello", "<speak>Hello</speak>"),
        ("<speak>A<break time='1s'/>B</speak>", '<speak>A<break time="1s" />B</speak>'),
        ("<p>1 &lt; 2</p>", "<speak><p>1 &lt; 2</p></speak>"),
        (
            '<speak xmlns="http://www.w3.org/2001/10/synthesis" xml:base="/etc"><p>A</p></speak>',
            "<speak><p>A</p></speak>",
        ),
        (
            '<prosody rate="slow" onx="y">A</prosody>',
            '<speak><prosody rate="slow">A</prosody></speak>',
        ),
    ],
)
def test_allowed_elements(text: str, clean: str) -> None:
    """Allowed elements and attributes stay, other markup is removed, the text stays."""
    assert sanitize(text) == clean


def test_audio_is_removed() -> None:
    """An element that makes espeak open a file becomes a sentence with its alternative text."""
    text = '<speak>Before <audio src="/etc/passwd">other <b>words</b></audio> after</speak>'
    assert sanitize(text) == "<speak>Before <s>other <s>words</s></s> after</speak>"


@pytest.mark.parametrize(
    "text",
    [
        "<p>open",
        "1 < 2",
        "a & b",
        '<!DOCTYPE x [<!ENTITY a "b">]><p>&a;</p>',
        "<?xml version='1.0'?><p/>",
    ],
)
def test_refused(text: str) -> None:
    """Markup that is not well-formed, or declares anything, is not spoken."""
    with pytest.raises(MediaError, match="speech_failed"):
        sanitize(text)


def test_deep_nesting() -> None:
    """It is refused in words of our own."""
    with pytest.raises(MediaError, match="nested too deeply"):
        sanitize("<p>" * 5_000 + "</p>" * 5_000)
