"""The recognizer of grammars: the real process and decoder, with rendered speech."""

import pytest

from speech.grammar import Grammar, Transition, phone_loop
from speech.worker.grammar_decoder import GrammarStream
from tests.contract.speech.voices import Voices, espeak_says, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream

MENU = ["Sales", "Support", "Billing", "Human agent", "yes", "no"]


async def test_phrases_are_understood(speech: SpeechProcess, voices: Voices) -> None:
    """Each becomes the hint as it was written, whose place in the stream is known."""
    said = {
        "sales": "Sales",
        "support": "Support",
        "billing": "Billing",
        "a human agent": "Human agent",
        "yes please": "yes",
        "no thank you": "no",
    }
    for words, hint in said.items():
        async with stream(speech, hints=MENU, silenceMs=300) as opened:
            assert (await opened.expect("ready")) == {"type": "ready", "recognizer": "grammar"}
            audio = await voices.say(words)
            await opened.send_audio(silence(500), audio, silence(600))
            final = await opened.expect("final")
            assert final["text"] == hint
            assert final["confidence"] > 0.5, words
            length_ms = len(audio) // 16
            assert final["startMs"] == pytest.approx(500, abs=100)
            assert final["endMs"] == pytest.approx(500 + length_ms, abs=160)


async def test_each_pronunciation_is_understood(voices: Voices) -> None:
    """Results have the name of the word, whichever of them was said."""
    words = {"w0": ["Z UW", "M AW TH", "S EY L Z"], "w1": ["N OW"]}
    transitions = [Transition(0, 1, 0.5, each) for each in words]
    decoder = GrammarStream(8000, Grammar(transitions, words, final=1), phone_loop())
    decoder.feed(silence(300) + await voices.say("sales") + silence(300))
    names, confidence = decoder.finish()
    assert names == ("w0",)
    assert confidence > 0.5


async def test_digits_become_figures(speech: SpeechProcess, voices: Voices) -> None:
    """The class of digits is one of the hints."""
    async with stream(speech, hints=["operator", "$digits"], silenceMs=400) as opened:
        await opened.send_audio(silence(300), await voices.say("five five zero one eight"))
        await opened.send_audio(silence(600))
        assert (await opened.expect("final"))["text"] == "55018"


async def test_other_speech_has_a_low_confidence(speech: SpeechProcess, voices: Voices) -> None:
    """A grammar always finds something; how well it fits is the confidence."""
    confidences = []
    for words in ("i would like to order a pizza", "what is the weather today"):
        async with stream(speech, hints=MENU, silenceMs=300) as opened:
            await opened.send_audio(silence(300), await voices.say(words), silence(600))
            confidences.append((await opened.expect("final"))["confidence"])
    assert max(confidences) < 0.45


@pytest.mark.parametrize("rate", [16_000, 24_000])
async def test_wide_audio(speech: SpeechProcess, voices: Voices, rate: int) -> None:
    """Other rates than a telephone's are understood, too."""
    async with stream(speech, hints=MENU, rate=rate, silenceMs=300) as opened:
        audio = await voices.say("billing", rate)
        await opened.send_audio(silence(300, rate), audio, silence(600, rate))
        assert (await opened.expect("final"))["text"] == "Billing"


async def test_another_voice(speech: SpeechProcess) -> None:
    """Also a synthesizer without a neural network is understood."""
    async with stream(speech, hints=MENU, silenceMs=300) as opened:
        await opened.send_audio(silence(300), await espeak_says("yes please"), silence(600))
        assert (await opened.expect("final"))["text"] == "yes"


async def test_many_utterances(speech: SpeechProcess, voices: Voices) -> None:
    """A stream goes on until it is stopped, which ends the last utterance, too."""
    async with stream(speech, hints=MENU, silenceMs=300, interim=True) as opened:
        await opened.send_in_time(silence(200) + await voices.say("billing") + silence(500))
        await opened.send_in_time(await voices.say("a human agent") + silence(100))
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    kinds = [each["type"] for each in opened.received]
    assert [each for each in kinds if each != "interim"] == [
        "ready",
        *("speech-started", "speech-ended", "final") * 2,
    ]
    finals = [each for each in opened.received if each["type"] == "final"]
    assert [each["text"] for each in finals] == ["Billing", "Human agent"]
    interims = [each for each in opened.received if each["type"] == "interim"]
    assert interims
    assert finals[0]["startMs"] == interims[0]["startMs"]
    assert finals[0]["endMs"] <= finals[1]["startMs"]


async def test_silence_is_no_speech(speech: SpeechProcess) -> None:
    """Of the noise of a line nothing is reported."""
    async with stream(speech, hints=MENU) as opened:
        await opened.send_audio(silence(4000))
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000
    assert [each["type"] for each in opened.received] == ["ready"]


async def test_a_long_utterance_is_cut(speech: SpeechProcess, voices: Voices) -> None:
    """Its part until then has a result, and the rest is the next utterance."""
    audio = await voices.say("five five zero one eight")
    async with stream(speech, hints=["$digits"], silenceMs=300, maxMs=1000) as opened:
        await opened.send_audio(silence(200), audio, silence(500))
        await opened.send({"type": "stop"})
        await opened.expect_close()
    finals = [each for each in opened.received if each["type"] == "final"]
    assert len(finals) >= 2
    assert finals[0]["endMs"] - finals[0]["startMs"] == 1000


async def test_names_have_sounds(speech: SpeechProcess, voices: Voices) -> None:
    """A word that no dictionary has is given as words that it has; compounds need no help."""
    hints = [{"text": "Kjærlighet", "soundsLike": "share lee het"}, "voicemail", "Ski 24"]
    async with stream(speech, hints=["voicemail", "Ski 24"], silenceMs=300) as opened:
        await opened.send_audio(silence(300), await voices.say("voice mail"), silence(500))
        assert (await opened.expect("final"))["text"] == "voicemail"
        await opened.send_audio(await voices.say("ski twenty four"), silence(500))
        assert (await opened.expect("final"))["text"] == "Ski 24"
    async with stream(speech, hints=hints, silenceMs=300) as opened:
        error = await opened.expect("error")
        assert error["code"] == "unknown-words"
        assert "het" in error["message"]
        assert "voicemail" not in error["message"]
