"""Listens to the caller: turns, and what a sound means for the audio that the bot plays."""

from streams.stream.audio import AudioFormat
from streams.stream.barge_in import BargeInRule, Decision
from streams.stream.turns import Turn, Turns
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
