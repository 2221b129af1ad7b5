"""The two phones of the lab: one calls the other, over real sockets."""

import asyncio
import io
import re
import signal
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from rich.console import Console

from cli.phone import CallOptions, call_number
from dev.phone.answerer import Answerer
from dev.phone.caller import CALLER_PORTS, Dialed, Pressed, place_call
from tests.contract.dev.harness.calls import NOTHING, give_up_when_it_rings
from tests.harness.phones.recorded_datagrams import RecordedDatagrams, recorded_datagrams
from tests.harness.ports import free_port
from tests.harness.until import until


@asynccontextmanager
async def answering(folder: Path, said: list[str]) -> AsyncIterator[int]:
    """Run the phone that answers, and yield its port."""
    port = free_port()
    transport, phone = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Answerer(folder, lambda a, b: f"{a}-{b}", said.append),
        local_addr=("127.0.0.1", port),
    )
    try:
        yield port
    finally:
        phone.close()
        transport.close()


def saved(folder: Path) -> list[Path]:
    """Return the files of a phone."""
    return list(folder.iterdir())


async def test_a_call_is_answered_and_hung_up(tmp_path: Path) -> None:
    """The caller is interrupted, hangs up, and the other phone has saved what it heard."""
    said: list[str] = []
    course: list[str] = []
    async with answering(tmp_path, said) as port:
        dialed = Dialed("127.0.0.1", port, "+4722222222", "+4799999999")
        calling = asyncio.create_task(place_call(dialed, Pressed("12", 0), course.append))
        await until(lambda: course[-1:] == ["sent 2"], what="the keys")
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
        await until(lambda: "hung up" in said[-1], what="the end of the call")
    assert course[1:] == ["ringing", "answered", "sent 1", "sent 2"]
    with wave.open(str(tmp_path / "+4799999999-+4722222222.wav")) as file:
        assert file.getnframes() > 0  # the caller sends silence all the time


async def test_calls_at_once_are_the_labs_trunk() -> None:
    """Each has a port of its own among those by which a lab's PBX knows its trunk."""
    async with recorded_datagrams() as pbx:
        host, _, port = pbx.address.partition(":")
        dialed = Dialed(host, int(port), "+1", "+2")
        calls = [asyncio.create_task(place_call(dialed, NOTHING, lambda _: None)) for _ in "ab"]
        await until(lambda: len(sources(pbx)) == 2, what="both calls")
        for each in calls:
            each.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert sources(pbx) <= set(CALLER_PORTS)


def sources(pbx: RecordedDatagrams) -> set[int]:
    """Return the ports that the calls have come from."""
    found = [re.search(rb"Via: [^;]*:(\d+);", each) for each in pbx.received]
    return {int(each[1]) for each in found if each}


@pytest.mark.parametrize(
    ("digits", "course"),
    [
        ("2p#", ["sent 2", "played the file", "sent #"]),
        ("2#", ["played the file", "sent 2", "sent #"]),
    ],
)
async def test_a_file_is_said_at_its_place(tmp_path: Path, digits: str, course: list[str]) -> None:
    """After the key of a menu, such as the words of a voicemail; without a place first."""
    found: list[str] = []
    async with answering(tmp_path, []) as port:
        dialed = Dialed("127.0.0.1", port, "+4722222222", "+4799999999")
        pressed = Pressed(digits, 0, bytes(160))
        calling = asyncio.create_task(place_call(dialed, pressed, found.append))
        await until(lambda: found[-1:] == ["sent #"], what="the last key")
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
    assert found[3:] == course


async def test_an_interrupted_call_keeps_what_was_heard(tmp_path: Path) -> None:
    """It says how it ended and which keys it sent; without a sound no file is written."""
    said: list[str] = []
    printed = io.StringIO()
    async with answering(tmp_path / "phone", said) as port:
        (tmp_path / "phone").mkdir()
        path = tmp_path / "call.wav"
        options = CallOptions("+1", "12", 0, None, "+2", path, False, f"127.0.0.1:{port}", tmp_path)
        calling = asyncio.create_task(call_number(options, Console(file=printed)))
        await until(lambda: "sent 1" in printed.getvalue(), what="the first key")
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
    assert calling.cancelled()
    course = printed.getvalue()
    assert "sent 2" in course
    assert course.index("sent 2") < course.index("hung up: interrupted")
    assert f"saved {path}" in "".join(course.splitlines())
    with wave.open(str(path)) as file:
        assert file.getnframes() > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_hangs_up(tmp_path: Path, number: signal.Signals) -> None:
    """`timeout`, or a terminal that closes: the other side is not left in a call."""
    said: list[str] = []
    printed = io.StringIO()
    async with answering(tmp_path, said) as port:
        options = CallOptions("+1", "", 0, None, "+2", None, False, f"127.0.0.1:{port}", tmp_path)
        calling = asyncio.create_task(call_number(options, Console(file=printed)))
        await until(lambda: "answered" in printed.getvalue(), what="the answer")
        signal.raise_signal(number)
        with suppress(asyncio.CancelledError):
            await calling
        await until(lambda: "hung up" in said[-1], what="the end of the call")
    assert "hung up: interrupted" in printed.getvalue()


async def test_a_caller_who_gives_up_is_not_answered(tmp_path: Path) -> None:
    """It sends CANCEL; there is nothing to save."""
    said: list[str] = []
    async with answering(tmp_path, said) as port:
        await give_up_when_it_rings(port)
        await until(lambda: said[-1] == "+1: not answered", what="the end of the call")
    assert saved(tmp_path) == []


async def test_a_message_that_cannot_be_saved_is_said(tmp_path: Path) -> None:
    """The phone goes on when its folder has been deleted."""
    said: list[str] = []
    folder = tmp_path / "phone"
    async with answering(folder, said) as port:
        dialed = Dialed("127.0.0.1", port, "+1", "+2")
        calling = asyncio.create_task(place_call(dialed, NOTHING, lambda _: None))
        await until(lambda: bool(said) and said[-1].endswith("answered"), what="an answer")
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
        await until(lambda: "was not written: No such file" in said[-1], what="the end of the call")


async def test_names_of_files_are_safe(tmp_path: Path) -> None:
    """A number comes from a stranger: it names no other folder."""
    said: list[str] = []
    async with answering(tmp_path, said) as port:
        dialed = Dialed("127.0.0.1", port, "..%2F..%2Fx", "../../y")
        calling = asyncio.create_task(place_call(dialed, NOTHING, lambda _: None))
        await until(lambda: bool(said) and said[-1].endswith("answered"), what="an answer")
        calling.cancel()
        with suppress(asyncio.CancelledError):
            await calling
        await until(lambda: "hung up" in said[-1], what="the end of the call")
    (path,) = saved(tmp_path)
    assert path.suffix == ".wav"
