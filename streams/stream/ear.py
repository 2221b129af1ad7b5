"""Listens to the caller: turns, and what a sound means for the audio that the bot plays."""

from collections import deque

from streams.stream.audio import AudioFormat
from streams.stream.barge_in import BargeInRule, Decision
from streams.stream.turns import Turn, Turns
from streams.stream.voice import VoiceJudge, VoiceJudges
from wire.streams.setup import BargeIn

PRE_ROLL = 5  # frames: a sound began before it was noticed


class CallerEar:
    """The ear of one stream."""

    def __init__(self, mode: BargeIn, audio: AudioFormat, judges: VoiceJudges) -> None:
        self.turns = Turns()
        self._audio = audio
        self._judges = judges
        self._judge: VoiceJudge | None = None
        self._rule = BargeInRule(mode)
        self._recent: deque[bytes] = deque(maxlen=PRE_ROLL)

    def hear(
        self, frame: bytes, is_playing: bool, now_ms: float
    ) -> tuple[Turn | None, Decision | None]:
        """Take a frame of the caller's; return what has changed."""
        rule, turns = self._rule, self.turns
        turn = turns.hear_caller(self._audio.level(frame), now_ms)
        self._recent.append(frame)
        decision: Decision | None = None
        if turn is not None and turn.is_speaking:
            decision = rule.began(is_playing, now_ms)
            if rule.needs_judgement and self._judge is None:
                self._judge = self._judges.lend(self._audio)
                for each in self._recent:
                    self._judge.hear(each)
        elif self._judge is not None:
            is_voice = self._judge.hear(frame)
            decision = rule.hear(is_voice, turns.caller.quiet_ms, now_ms)
        if turn is not None and not turn.is_speaking:
            rule.ended()
        self._release()
        return turn, decision

    def tick(self, now_ms: float) -> Decision | None:
        """Time has passed."""
        decision = self._rule.tick(now_ms)
        self._release()
        return decision

    def reset(self) -> None:
        """Forget the sound: the bot's audio was dropped."""
        self._rule.reset()
        self._release()

    def _release(self) -> None:
        if self._judge is not None and not self._rule.needs_judgement:
            self._judges.give_back(self._judge, self._audio)
            self._judge = None
