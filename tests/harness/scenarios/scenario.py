"""Seeded scenarios: trees of all verbs, inbound and outbound calls, and webhook responses."""

import random

from msgspec.structs import replace

from wire import verbs
from wire.answer_detection import Confirm, MachineDetection
from wire.rpc import AnsweredDetection, NumberRoute, Originate
from wire.verbs import Action, Verb

FLOWS = 3
MESSAGES = 0.4  # of the plays, in worlds with voicemail
STREAMS = 0.2  # of the verbs that a stream precedes, in worlds with streams
PAUSES = 0.15  # of the verbs that a pause precedes, in worlds with pauses
ON_ERRORS = 0.4  # of the verbs with audio, in worlds with `onError`
RINGS = 0.4  # of the routes, in worlds with calls that ring before the answer
EARLY_MEDIA = 0.5  # of the dials, in the same worlds
SPEECH = 0.7  # of the gathers, in worlds with speech
LOOPS = 0.4  # of the plays that repeat, in the same worlds
PROMPTS_MS = (200, 500, 1_000, 3_000, 6_000)
DELAYS_MS = (0, 5, 60, 400, 3_000)
VERBS = ("play", "say", "gather", "dial", "flow", "hangup")
WEIGHTS = (4, 2, 6, 6, 1, 0.3)


def choose_pauses(seed: int) -> random.Random | None:
    """Return the chance of pauses and loops; half of the worlds have none."""
    own_rng = random.Random(f"pause {seed}")
    return own_rng if own_rng.random() < 0.5 else None


def choose_on_errors(seed: int) -> random.Random | None:
    """Return the chance of `onError`; half of the worlds have none."""
    own_rng = random.Random(f"on error {seed}")
    return own_rng if own_rng.random() < 0.5 else None


def choose_habits(seed: int) -> random.Random | None:
    """Return the chance of typing ahead and of clearing that; half of the worlds have none."""
    own_rng = random.Random(f"habits {seed}")
    return own_rng if own_rng.random() < 0.5 else None


def choose_before_answer(seed: int) -> random.Random | None:
    """Return the chance of ringing before the answer and of early media; half have none."""
    own_rng = random.Random(f"before answer {seed}")
    return own_rng if own_rng.random() < 0.5 else None


def choose_streams(seed: int) -> random.Random | None:
    """Return the chance of streams; a third of the worlds have some."""
    own_rng = random.Random(f"streams {seed}")
    return own_rng if own_rng.random() < 0.33 else None


def choose_forks(seed: int) -> random.Random | None:
    """Return the chance of forks; a quarter of the worlds have some."""
    own_rng = random.Random(f"forks {seed}")
    return own_rng if own_rng.random() < 0.25 else None


def choose_speech(seed: int) -> random.Random | None:
    """Return the chance of gathers that understand speech; a third of the worlds have some."""
    own_rng = random.Random(f"speech {seed}")
    return own_rng if own_rng.random() < 0.33 else None


class Scenarios:
    """Makes the scenarios of one seed."""

    def __init__(  # noqa: PLR0913 - each random choice that only some worlds have
        self,
        rng: random.Random,
        *,
        media_faults: bool,
        messages: random.Random | None = None,
        pauses: random.Random | None = None,
        on_errors: random.Random | None = None,
        habits: random.Random | None = None,
        before_answer: random.Random | None = None,
        streams: random.Random | None = None,
        forks: random.Random | None = None,
        speech: random.Random | None = None,
    ) -> None:
        self._speech = speech  # lets some gathers understand speech; None: never
        self._forks = forks  # puts some verbs after a fork; None: never
        self._streams = streams  # puts some verbs after a stream; None: never
        self._before_answer = before_answer  # rings before the answer, early media; None: never
        self._on_errors = on_errors  # adds `onError`; None: never
        self._habits = habits  # adds gathers that clear what was typed ahead; None: never
        self._pauses = pauses  # adds pauses and loops; None: never. Other choices do not change
        self._messages = messages  # turns some plays into voicemail; None: never
        self._rng = rng
        self._media_faults = media_faults

    def outbound(self, request_id: str) -> Originate:
        """Return a request for an outbound call, in either click-to-call form."""
        rng = self._rng
        return Originate(
            account="acc",
            from_=rng.choice(("+4721930000", "agent:1001")),
            to=self.party(),
            action=self.action(3),
            flow_id=self._flow_id() if rng.random() < 0.1 else None,
            from_first=rng.random() < 0.3,
            timeout=rng.choice((2, 5, 15)),
            request_id=request_id,
            machine_detection=rng.random() < 0.2 and self._answered_detection(),
        )

    def route(self) -> NumberRoute:
        """Return the route of a number."""
        rng, route = self._before_answer, NumberRoute("acc", self.action(4) or verbs.Hangup())
        return route if rng is None else replace(route, answer=rng.random() > RINGS)

    def offer(self) -> Action | None:
        """Return the response to a webhook."""
        return self.action(2) if self._rng.random() < 0.8 else None

    def action(self, depth: int) -> Action | None:
        """Return a random tree of limited depth."""
        rng = self._rng
        kind = rng.random()
        if depth <= 0 or kind < 0.1:
            return None
        if kind < 0.2:
            return self._request(rng.randrange(100))
        return self.verb(depth)

    def _request(self, number: int) -> Action:
        """Return the address of a webhook, or a verb that redirects to it."""
        url = f"https://hooks/{number}"
        if self._pauses is None or number % 4:
            return url
        fallback = verbs.Say(verbs.SayData("200/5/ok")) if number % 8 else None
        return verbs.Redirect(verbs.RedirectData(url, fallback))

    def verb(self, depth: int) -> Verb:
        """Return a random verb and its next action."""
        verb = self._after_stream(self._with_on_error(self._verb(depth)))
        verb, rng = self._after_fork(verb), self._pauses
        if rng is None:
            return verb
        if isinstance(verb, verbs.Play) and rng.random() < LOOPS:
            verb = replace(verb, data=replace(verb.data, loop=rng.choice((2, 3, 21))))
        if rng.random() < PAUSES:
            verb = verbs.Pause(verbs.PauseData(rng.choice((0.001, 0.5, 2.0, 10.0))), verb)
        return verb

    def _after_fork(self, verb: Verb) -> Verb:
        rng = self._forks
        if rng is None or rng.random() > STREAMS:
            return verb
        data = verbs.StreamData(
            "wss://listener.example/",
            track=rng.choice(("both", "caller", "bot")),
            on_lost=rng.choice(("retry", "continue", "hangup")),
            max_duration=rng.choice((None, 1.0, 20.0)),
            fork=True,
        )
        return verbs.Stream(data, verb)

    def _after_stream(self, verb: Verb) -> Verb:
        rng = self._streams
        if rng is None or rng.random() > STREAMS:
            return verb
        data = verbs.StreamData(
            "wss://bot.example/",
            on_lost=rng.choice(("retry", "continue", "hangup")),
            max_duration=rng.choice((None, 1.0, 20.0)),
        )
        return verbs.Stream(data, verb)

    def _with_on_error(self, verb: Verb) -> Verb:
        rng = self._on_errors
        is_audible = isinstance(verb, verbs.Play | verbs.Say | verbs.Gather | verbs.Record)
        if rng is None or not is_audible or rng.random() > ON_ERRORS:
            return verb
        on_error = rng.choice(
            (verbs.Say(verbs.SayData("200/5/ok")), verbs.Hangup(), "https://hooks/e")
        )
        return replace(verb, on_error=on_error)

    def _verb(self, depth: int) -> Verb:
        rng = self._rng
        after = self.action(depth - 1)
        match rng.choices(VERBS, WEIGHTS):
            case ["play"] if self._messages and self._messages.random() < MESSAGES:
                return self._message(self._messages, after)
            case ["play"]:
                many = tuple(self.audio() for _ in range(rng.choice((2, 3))))
                url = self.audio() if rng.random() < 0.7 else many
                timeout = rng.choice((1, 4)) if rng.random() < 0.1 else None
                return verbs.Play(verbs.PlayData(url), after, timeout)
            case ["say"]:
                return verbs.Say(verbs.SayData(self.audio().removeprefix("https://")), after)
            case ["gather"]:
                return self._gather(depth, after)
            case ["dial"]:
                return self._dial(after)
            case ["flow"]:
                return verbs.Flow(verbs.FlowData(self._flow_id()), after)
            case _:
                return verbs.Hangup()

    def _message(self, rng: random.Random, after: Action | None) -> verbs.Record:
        data = verbs.RecordData(
            text=rng.choice((None, "300/5/ok", "2000/40/bad")),
            beep=rng.random() < 0.7,
            max_length=rng.choice((1, 3, 10)),
            silence=rng.choice((0, 1, 3)),
            terminator=rng.choice(("#", "#", "*", "5", "")),
        )
        return verbs.Record(data, after)

    def _gather(self, depth: int, after: Action | None) -> verbs.Gather:
        rng = self._rng
        data = verbs.GatherData(
            audio_url=self.audio() if rng.random() < 0.75 else None,
            max_digits=rng.choice((1, 2, 4, 64)),
            timeout=rng.choice((0, 500, 2_000, 5_000)),
            digit_timeout=rng.choice((300, 1_000, 2_000)),
            terminator=rng.choice(("#", "#", "*", "")),
            fallback=self.verb(depth - 2) if depth > 1 and rng.random() < 0.3 else None,
            type_ahead=self._habits is None or self._habits.random() < 0.8,
        )
        timeout = rng.choice((1, 3, 8)) if rng.random() < 0.2 else None
        return verbs.Gather(self._with_speech(data), after, timeout)

    def _with_speech(self, data: verbs.GatherData) -> verbs.GatherData:
        rng = self._speech
        if rng is None or rng.random() > SPEECH:
            return data
        return replace(
            data,
            input=rng.choice((("speech",), ("speech", "digits"), ("digits", "speech"))),
            recognizer=rng.choice(("grammar", "grammar", "whisper")),
            hints=rng.choice(((), ("sales", "support"))),
            min_confidence=rng.choice((None, 0.5, 0.3, 0.0, 1.0)),
            barge_in=rng.choice(("pause", "pause", "flush", "off")),
            endpointing=verbs.Endpointing(
                silence_ms=rng.choice((100, 700)), max_ms=rng.choice((500, 3_000, 15_000))
            ),
        )

    def _dial(self, after: Action | None) -> verbs.Dial:
        rng, kind = self._rng, self._rng.random()
        music = verbs.MusicOnHold(rng.random() < 0.5)
        limit = rng.choice((1, 5, 20)) if rng.random() < 0.4 else None
        if kind < 0.2:
            data = verbs.DialData(agent_id="1001", reference_id="r", time_limit=limit, moh=music)
        elif kind < 0.25:
            data = verbs.DialData(flow_id=self._flow_id())
        elif kind < 0.5:
            numbers = tuple(f"+47000{rng.randrange(9)}" for _ in range(rng.choice((2, 3))))
            data = verbs.DialData(number=numbers, time_limit=limit, moh=music)
        else:
            data = verbs.DialData(number=self.party(), time_limit=limit, moh=music)
        if self._before_answer is not None:
            early_media = self._before_answer.random() < EARLY_MEDIA
            quiet = replace(data, moh=verbs.MusicOnHold(False))
            data = replace(quiet, early_media=True) if early_media else data
        timeout = rng.choice((1, 5, 20)) if rng.random() < 0.8 else None
        return verbs.Dial(self._with_screening(data) if kind < 0.7 else data, after, timeout)

    def _with_screening(self, data: verbs.DialData) -> verbs.DialData:
        rng = self._rng
        whisper: Verb | None = None
        if rng.random() < 0.4:
            keys = verbs.Gather(verbs.GatherData(max_digits=1, timeout=500))
            whisper = verbs.Play(verbs.PlayData(self.audio()), rng.choice((None, keys)))
        confirm = Confirm(
            audio_url=self.audio() if rng.random() < 0.5 else None,
            digit=rng.choice("123"),
            timeout=rng.choice((1_000, 5_000)),
        )
        return replace(
            data,
            whisper=whisper,
            confirm=confirm if rng.random() < 0.3 else None,
            machine_detection=rng.choice((False, True, MachineDetection(on_machine="hangup"))),
        )

    def _answered_detection(self) -> AnsweredDetection:
        play = verbs.Play(verbs.PlayData(self.audio()))
        return AnsweredDetection(on_machine=self._rng.choice(("continue", "hangup", play)))

    def party(self) -> str:
        """Choose a party; some are unreachable."""
        return "sip:unknown@host" if self._rng.random() < 0.05 else "+47123456"

    def _flow_id(self) -> str:
        return f"flow{self._rng.randrange(FLOWS + 1)}"  # the last does not exist

    def audio(self) -> str:
        """Choose an audio URL; some are bad where media faults are on."""
        rng, kind, delay_ms = self._rng, "ok", self._rng.choice(DELAYS_MS)
        if self._media_faults:
            kind = rng.choices(("ok", "bad", "lost"), (8, 1, 1))[0]
            delay_ms = 25_000 if rng.random() < 0.03 else delay_ms
        return f"https://audio/{rng.choice(PROMPTS_MS)}/{delay_ms}/{kind}"
