"""Which provider speaks a text."""

import pytest

from engine.media.clip import MediaError
from engine.media.tts import parse_languages, rank_providers, sanitize, synthesize
from wire.media import Speech

LISTED = """Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af
 5  cmn             --/M      Chinese_(Mandarin,_latin_as_English) sit/cmn (zh-cmn 5)(zh 5)
 2  en-gb           --/M      English_(Great_Britain) gmw/en           (en 2)
 5  nb              --/M      Norwegian_Bokmål  gmq/nb               (no 5)
"""


class FakeProvider:
    """A provider that returns its own name, or fails."""

    def __init__(
        self, name: str, languages: str, *, ssml: bool = False, fails: bool = False
    ) -> None:
        self.name = name
        self.languages = frozenset(languages.split())
        self.voices = frozenset({f"{name}-voice"})
        self.ssml = ssml
        self.fails = fails

    async def synthesize(self, account: str, speech: Speech) -> bytes:
        """Return the provider's name as its audio."""
        assert account == "acme"
        if self.fails:
            raise MediaError("unreadable", f"no {speech.text}")
        return self.name.encode()

    async def close(self) -> None:
        """Do nothing."""


NEURAL = FakeProvider("neural", "en")
PLAIN = FakeProvider("plain", "en hi de", ssml=True)
BROKEN = FakeProvider("broken", "en", fails=True)


@pytest.mark.parametrize(
    ("speech", "names"),
    [
        (Speech("a"), ["neural", "plain"]),
        (Speech("a", language="en-GB"), ["neural", "plain"]),
        (Speech("a", language="EN"), ["neural", "plain"]),
        (Speech("a", language="hi-IN"), ["plain"]),
        (Speech("a", ssml=True), ["plain"]),
        (Speech("a", voice="plain"), ["plain", "neural"]),
        (Speech("a", voice="plain-voice"), ["plain", "neural"]),
        (Speech("a", voice="unknown"), ["neural", "plain"]),
        (Speech("a", language="tlh"), []),
    ],
)
def test_ranked(speech: Speech, names: list[str]) -> None:
    """Language and SSML must fit; a provider with the voice goes first; else as configured."""
    assert [provider.name for provider in rank_providers([NEURAL, PLAIN], speech)] == names


async def test_substitute() -> None:
    """If the first provider fails, the next one speaks."""
    assert await synthesize([BROKEN, PLAIN], "acme", Speech("a")) == (b"plain", "plain")


@pytest.mark.parametrize(
    ("speech", "reason", "text"),
    [
        (Speech("a"), "speech_failed", "broken: no a"),
        (Speech("a", language="fr"), "unknown_language", "no provider for language fr"),
    ],
)
async def test_no_provider_succeeds(speech: Speech, reason: str, text: str) -> None:
    """If no provider can speak a text, the last failure is raised."""
    with pytest.raises(MediaError) as caught:
        await synthesize([BROKEN], "acme", speech)
    assert (caught.value.reason, caught.value.text) == (reason, text)


def test_languages() -> None:
    """Espeak's table gives primary subtags, also of alternative names."""
    assert parse_languages(LISTED) == {"af", "cmn", "zh", "en", "nb", "no"}


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
