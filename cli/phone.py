"""What `switchroom dev call` and the phone behind the trunk do, beyond SIP and RTP."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from base.exit_status import ExitStatus
from cli.output import Shown
from dev.errors import BadOption, CallFailed, NotStarted, PortTaken, UnusableFolder
from dev.lab.env_file import read_file
from dev.lab.plan import DOTENV, read_plan
from dev.phone.answerer import Answerer
from dev.phone.caller import PAUSES_S, SOUND, Dialed, Interrupted, Outcome, Pressed, Say, place_call
from dev.phone.g711 import RATE_HZ, read_wav, sound_s, write_wav
from dev.phone.rtp import KEYS
from dev.phone.speech import spoken
from wire.phone_numbers.e164 import normalized

PLAYERS = (
    ("paplay",),
    ("aplay", "-q"),
    ("ffplay", "-nodisp", "-autoexit", "-loglevel", "error"),
    ("afplay",),
)
_NODES = "SWITCHROOM_NODES"
_OK = 200
_NOT_FOUND = 404
_INTERWORKING = "(127)"  # the cause of a call whose instructions failed
_MAX_AFTER_S = 3_600
_PORTS = range(1, 65_536)
_NUMBER = re.compile(r"[A-Za-z0-9+*#._~!-]{1,64}")  # what the user part of an address may have
_STATUSES = {486: ExitStatus.BUSY, 600: ExitStatus.BUSY,
             408: ExitStatus.NO_ANSWER, 480: ExitStatus.NO_ANSWER}  # fmt: skip


class CallOptions(NamedTuple):
    """What a developer typed."""

    number: str
    digits: str
    after_s: float
    play: Path | None
    caller: str
    save: Path | None
    listen: bool
    sip: str
    folder: Path
    words: str | None = None  # in the place of `play`


async def call_number(options: CallOptions, console: Console) -> Shown:
    """Place a call, show its course, and return its outcome."""
    number, caller = map(normalized, (options.number, options.caller))
    options = options._replace(number=number, caller=caller)
    _check(options)
    host, port = pbx_address(options, os.environ)
    _hang_up_on_signals()
    started_s = time.monotonic()

    def say(text: str) -> None:
        console.print(f"{time.monotonic() - started_s:6.1f} s  {text}", soft_wrap=True)

    dialed = Dialed(host, port, options.number, options.caller)
    sound = await asyncio.to_thread(_sound, options.play, options.words)
    pressed = Pressed(options.digits, options.after_s, sound)
    try:
        outcome = await place_call(dialed, pressed, say)
    except Interrupted as interrupted:
        say("hung up: interrupted")
        _save(options.save, interrupted.heard, say)
        raise
    for hint in hints(outcome, options.number):
        say(hint)
    _save(options.save, outcome.heard, say)
    if options.listen:
        await asyncio.to_thread(_play, outcome, say)
    return _shown(outcome)


def _hang_up_on_signals() -> None:
    """Let `timeout` and a terminal that closes do what Ctrl-C does: the PBX would keep the call."""
    if (task := asyncio.current_task()) is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)


def hints(outcome: Outcome, number: str) -> list[str]:
    """Return what a developer has to do if the call did not run what they expect."""
    if outcome.status == _NOT_FOUND:
        return [f"404: {number} has no route: `switchroom route set {number} URL`, or @FILE"]
    if outcome.status == _OK and outcome.text.endswith(_INTERWORKING):
        timeline = "`switchroom call timeline $(switchroom call list --ended 1)`"
        return [f"the webhook or flow failed: {timeline} says why"]
    return []


def _save(path: Path | None, heard: bytes, say: Say) -> None:
    if path is None:
        return
    if not heard:
        say(f"nothing was heard, so {path} is not written")
        return
    try:
        write_wav(path, heard)
    except OSError as error:
        raise CallFailed(f"--save {path}: {(error.strerror or '').lower()}") from None
    say(f"saved {path}")


def pbx_address(options: CallOptions, environ: Mapping[str, str]) -> tuple[str, int]:
    """Return where the PBX takes calls: as typed, as commands here find it, or of the lab."""
    if options.sip:
        host, _, port = options.sip.rpartition(":")
        if not host or not re.fullmatch("[0-9]{1,5}", port) or int(port) not in _PORTS:
            raise BadOption("--sip: expected HOST:PORT, such as 127.0.0.1:5060")
        return host, int(port)
    found = environ.get(_NODES) or read_file(DOTENV).get(_NODES)
    if found:
        try:
            own = int(json.loads(found)[0]["sip_port"])
        except (ValueError, LookupError, TypeError, RecursionError):
            own = 0
        if own not in _PORTS:
            raise BadOption(f"{_NODES} has no sip_port: use --sip HOST:PORT")
        return "127.0.0.1", own
    plan = read_plan(options.folder)
    if plan is None:
        raise NotStarted(options.folder)
    return "127.0.0.1", plan.ports().nodes[0].sip


def _check(options: CallOptions) -> None:
    if wrong := set(options.digits) - set(KEYS + KEYS.lower() + SOUND) - PAUSES_S.keys():
        names = "".join(sorted(wrong)).upper()
        raise BadOption(
            f"--digits: {names} is on no key; expected {KEYS}, w and W for a pause, "
            f"or {SOUND} for what is said"
        )
    if options.play is not None and options.words is not None:
        raise BadOption("--say: without --play, which says a file")
    if SOUND in options.digits and options.play is None and options.words is None:
        raise BadOption(f"--digits: {SOUND} is where --play or --say speaks; both are missing")
    if not 0 <= options.after_s <= _MAX_AFTER_S:
        raise BadOption(f"--after-s: expected 0 to {_MAX_AFTER_S}")
    for name, value in (("NUMBER", options.number), ("--from", options.caller)):
        if not _NUMBER.fullmatch(value):
            raise BadOption(f"{name}: expected a number, such as +4721930000")


def _sound(path: Path | None, words: str | None) -> bytes:
    if words is not None:
        return spoken(words)
    try:
        return read_wav(path) if path is not None else b""
    except (OSError, ValueError) as error:
        raise BadOption(f"--play: {path}: {error}") from None


def _play(outcome: Outcome, say: Say) -> None:
    player = next((each for each in PLAYERS if shutil.which(each[0])), None)
    if player is None:
        names = ", ".join(each[0] for each in PLAYERS)
        say(f"this machine has no player ({names}): use --save, and open the file elsewhere")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "call.wav")
        write_wav(path, outcome.heard)
        done = subprocess.run((*player, str(path)), check=False, capture_output=True)
    if done.returncode:
        say(f"{player[0]} could not play it; is there a sound card?")


def _shown(outcome: Outcome) -> Shown:
    is_answered = outcome.status == _OK
    value = {
        "isAnswered": is_answered,
        "status": outcome.status,
        "end": outcome.text,
        "heardS": round(len(outcome.heard) / RATE_HZ, 1),
        "soundS": round(sound_s(outcome.heard), 1),
    }
    status = ExitStatus.DONE if is_answered else _STATUSES.get(outcome.status, ExitStatus.NEGATIVE)
    text = f"heard {value['heardS']} s, {value['soundS']} s of it sound"
    return Shown(value, (text,) if is_answered else (), status)


async def answer_calls(port: int, folder: Path, console: Console) -> int:
    """Answer all calls to a port until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)

    def name_of(caller: str, called: str) -> str:
        return f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1000:03}-{caller}-to-{called}"

    def say(text: str) -> None:
        console.print(f"{time.strftime('%H:%M:%S')} {text}", soft_wrap=True)

    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        transport, phone = await loop.create_datagram_endpoint(
            lambda: Answerer(folder, name_of, say), local_addr=("127.0.0.1", port)
        )
    except PermissionError as error:
        raise UnusableFolder(error) from None
    except OSError:
        raise PortTaken("phone", port) from None
    await stopped.wait()
    phone.close()
    transport.close()
    return ExitStatus.DONE
