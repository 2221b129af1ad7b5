"""Decodes one stream with pocketsphinx; runs in a worker process.

A second decoder hears the same audio as any sequence of phones. How much better that explains the
audio says how little the grammar does: what callers say beside the grammar has a low confidence.
"""

import math
from collections.abc import Iterator, Sequence

from pocketsphinx import Decoder, get_model_path

from speech.audio import Resampler
from speech.grammar import Grammar, Transition

MODEL_RATE = 16_000
_TELEPHONE_RATE = 8_000
_NAME = "grammar"
# The mean of the cepstrum before anything was heard: nearly each utterance is the first one of its
# stream. Measured on synthetic voices (decision 0086); the library's is that of a microphone, with
# which half of the phrases over a telephone are not understood.
_TELEPHONE_MEAN = "45.8,32.2,-31.4,46.7,-18.0,-10.7,18.4,-19.6,8.6,-12.8,-6.2,13.4,-13.2"
_WIDE_MEAN = "52.8,8.7,-3.0,24.7,-10.9,-3.1,1.7,-3.6,2.8,-17.2,6.0,-1.7,-0.9"
_BEAM, _WORD_BEAM = 1e-64, 1e-48
_WORD_PENALTY = 0.01  # fewer and longer words
# The difference of the two log scores, times 1,000, over the root of the frames of speech: half of
# the phrases that were right are above 2, half of those that were something else below -12.
_EVEN_DIFFERENCE = -8.0
_SLOPE = 0.21
_FILLERS = "<[("  # what names of silence, noise and empty words begin with


class GrammarStream:
    """One stream: utterance by utterance, as its audio arrives."""

    def __init__(self, rate: int, grammar: Grammar, phones: Grammar) -> None:
        """Raise ValueError or RuntimeError if the grammar cannot be decoded."""
        self._resampler = Resampler(rate, MODEL_RATE)
        self._decoder = _decoder(rate, grammar)
        self._phones = _decoder(rate, phones)
        self._is_open = False

    def feed(self, audio: bytes) -> None:
        if not self._is_open:
            self._is_open = True
            self._decoder.start_utt()
            self._phones.start_utt()
        resampled = self._resampler.resample(audio)
        if not resampled:
            return
        self._decoder.process_raw(resampled)
        self._phones.process_raw(resampled)

    def heard(self) -> tuple[str, ...]:
        """Return the names of the words that were decoded so far."""
        hypothesis = self._decoder.hyp() if self._is_open else None
        return tuple(hypothesis.hypstr.split()) if hypothesis else ()

    def finish(self) -> tuple[tuple[str, ...], float]:
        """Return the names of the words of the utterance, and the confidence."""
        if not self._is_open:
            return (), 0.0
        self._decoder.end_utt()
        self._phones.end_utt()
        names = self.heard()
        self._is_open = False
        if not names:
            return (), 0.0
        score, _ = _score(self._decoder)
        phone_score, frames = _score(self._phones)
        return names, confidence_of((score - phone_score) * 1000 / math.sqrt(max(1, frames)))


def confidence_of(difference: float) -> float:
    """Return the confidence of a difference of log scores."""
    return round(1 / (1 + math.exp(-_SLOPE * (difference - _EVEN_DIFFERENCE))), 3)


def _score(decoder: Decoder) -> tuple[float, int]:
    """Return the log of the acoustic score of the best path, and its frames of speech."""
    parts = [*(decoder.seg() or ())]
    score = sum(math.log(each.ascore) for each in parts if each.ascore > 0)
    speech = [each for each in parts if each.word[0] not in _FILLERS]
    return score, sum(each.end_frame - each.start_frame + 1 for each in speech)


def _decoder(rate: int, grammar: Grammar) -> Decoder:
    decoder = Decoder(
        hmm=get_model_path("en-us/en-us"),
        dict=None,
        lm=None,
        samprate=MODEL_RATE,
        cmninit=_TELEPHONE_MEAN if rate == _TELEPHONE_RATE else _WIDE_MEAN,
        compallsen=True,  # scores are relative to the best of all states
        fwdflat=False,  # a second pass would begin when the utterance has ended
        bestpath=False,
        beam=_BEAM,
        pbeam=_BEAM,
        wbeam=_WORD_BEAM,
        wip=_WORD_PENALTY,
        fsgusealtpron=False,  # the transitions have them: to find them takes the library seconds
        loglevel="FATAL",
    )
    for name, pronunciations in grammar.pronunciations.items():
        _add_word(decoder, name, pronunciations)
    transitions = [*_spoken_transitions(grammar)]
    states = decoder.create_fsg(_NAME, grammar.start, grammar.final, transitions)
    decoder.add_fsg(_NAME, states)
    decoder.activate_search(_NAME)
    return decoder


def _spoken_transitions(grammar: Grammar) -> Iterator[Transition]:
    """Yield each transition once for each pronunciation; results have the name of the first."""
    for each in grammar.transitions:
        for place in range(1, len(grammar.pronunciations[each.word]) + 1):
            yield each._replace(word=_variant(each.word, place))


def _add_word(decoder: Decoder, name: str, pronunciations: Sequence[str]) -> None:
    for place, phones in enumerate(pronunciations, 1):
        decoder.add_word(_variant(name, place), phones, update=False)


def _variant(name: str, place: int) -> str:
    return name if place == 1 else f"{name}({place})"
