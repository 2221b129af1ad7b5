"""Listens to the caller: turns, and what a sound means for the audio that the bot plays."""

from streams.stream.audio import FRAME_MS, AudioFormat
from streams.stream.barge_in import BargeInRule, Decision
from streams.stream.turns import SpeechDetector, Turn, Turns
from streams.stream.voice import SoundJudge, VoiceJudges
from wire.streams.setup import BargeIn

PRE_ROLL = 5  # frames: a sound began before it was noticed


class CallerEar:
    """The ear of one stream."""

    def __init__(self, mode: BargeIn, audio: AudioFormat, judges: VoiceJudges) -> None:
        self.turns = Turns()
        self._audio = audio
        self._sound = SoundJudge(audio, judges, PRE_ROLL)
        self._rule = BargeInRule(mode)

    def hear(
        self, frame: bytes, is_playing: bool, now_ms: float
    ) -> tuple[Turn | None, Decision | None]:
        """Take a frame of the caller's; return what has changed."""
        rule, turns = self._rule, self.turns
        turn = turns.hear_caller(self._audio.level(frame), now_ms)
        is_voice = self._sound.hear(frame)
        if turn is None and not rule.needs_judgement:
            return None, None  # most frames
        if turn is not None and turn.is_speaking:
            decision = rule.began(is_playing, now_ms)
            if rule.needs_judgement:
                self._sound.begin(PRE_ROLL)
        else:
            decision = rule.hear(is_voice, turns.caller.quiet_ms, now_ms)
        if turn is not None and not turn.is_speaking:
            rule.ended()
        self._release()
        return turn, decision

    def tick(self, now_ms: float) -> Decision | None:
        """Time has passed."""
        if not self._rule.needs_judgement:
            return None
        decision = self._rule.tick(now_ms)
        self._release()
        return decision

    def reset(self) -> None:
        """Forget the sound: the bot's audio was dropped."""
        self._rule.reset()
        self._release()

    def _release(self) -> None:
        if not self._rule.needs_judgement:
            self._sound.end()


MEMORY = 25  # frames; a recognizer on a busy machine reports an utterance late
LEAD = 2  # frames before an utterance that belong to it


class UtteranceEar:
    """The ear of one stream to a recognizer; positions are of all frames that it has heard."""

    def __init__(self, mode: BargeIn, audio: AudioFormat, judges: VoiceJudges) -> None:
        self.heard_ms = 0
        self._audio = audio
        self._caller = SpeechDetector()
        self._rule = BargeInRule(mode)
        self._sound = SoundJudge(audio, judges, MEMORY)
        self._voice_ms = -1  # where a voice was noticed last
        self._began_ms: int | None = None  # of the present utterance

    @property
    def is_paused(self) -> bool:
        """Whether the prompt is paused, so that a decision is due."""
        return self._rule.is_paused

    def hear(self, frame: bytes, is_playing: bool, now_ms: float) -> Decision | None:
        """Take a frame of the caller's; return what it does to the prompt, if that is played."""
        self.heard_ms += FRAME_MS
        rule, caller = self._rule, self._caller
        has_changed = caller.hear(self._audio.level(frame), now_ms)
        is_voice = self._sound.hear(frame)
        if is_voice:
            self._voice_ms = self.heard_ms
        if has_changed and caller.is_speaking:
            decision = rule.began(is_playing, now_ms)
            if rule.needs_judgement:
                self._sound.begin(PRE_ROLL)
        else:
            decision = rule.hear(is_voice, caller.quiet_ms, now_ms)
        if not caller.is_speaking:
            rule.ended()
        self._release()
        return decision

    def tick(self, now_ms: float) -> Decision | None:
        """Time has passed."""
        decision = self._rule.tick(now_ms)
        self._release()
        return decision

    def utterance_began(self, at_ms: int) -> None:
        """Judge an utterance, from its beginning on."""
        self._began_ms = at_ms
        if not self._has_voice:
            self._sound.begin((self.heard_ms - at_ms) // FRAME_MS + LEAD)

    def utterance_ended(self) -> bool:
        """Return whether the utterance had a voice."""
        is_voice = self._has_voice
        self._began_ms = None
        self._release()
        return is_voice

    def end(self) -> None:
        """Listen no more."""
        self._rule.reset()
        self._began_ms = None
        self._release()

    @property
    def _has_voice(self) -> bool:
        return self._began_ms is not None and self._voice_ms >= self._began_ms

    def _release(self) -> None:
        is_judged = self._began_ms is None or self._has_voice
        if is_judged and not self._rule.needs_judgement:
            self._sound.end()
