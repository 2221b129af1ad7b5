"""What accounts share of a recognizer: places, time, and workers that hang."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from speech.grammar import HintGrammar
from speech.recognizer import RecognitionFailed
from speech.vocabulary import Dictionary
from speech.worker.process import WorkerLimits, WorkerPool, WorkerStream
from speech.worker.protocol import GrammarVocabulary
from tests.contract.speech.voices import Voices, silence
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import stream
from tests.harness.until import until

YES = HintGrammar(("yes",), Dictionary({"yes": ("Y EH S",)})).grammar
NOISE = bytes(range(256)) * 40  # 640 ms
GIBIBYTE = 1 << 30


async def opened(pool: WorkerPool, account: str) -> WorkerStream:
    """Open a stream of an account."""
    return await pool.open(account, 8000, GrammarVocabulary(YES), None)


@asynccontextmanager
async def pool_of(processes: int, streams: int, **more: float) -> AsyncIterator[WorkerPool]:
    """Run workers."""
    limits = WorkerLimits(processes, streams, 2 * GIBIBYTE, **more)  # type: ignore[arg-type]  # seconds
    pool = WorkerPool(limits)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


async def test_a_full_recognizer_has_room_for_a_small_account(tmp_path: Path) -> None:
    """The newest stream of the largest account gives way; alone, that may have all of them."""
    settings = {"SWITCHROOM_SPEECH_STREAMS": "3"}
    async with SpeechProcess(tmp_path, **settings) as speech, AsyncExitStack() as stack:
        evil = []
        for _ in range(3):
            evil.append(await stack.enter_async_context(stream(speech, account="evil")))
            await evil[-1].expect("ready")
        fourth = await stack.enter_async_context(stream(speech, account="evil"))
        assert (await fourth.expect("error"))["code"] == "overloaded"
        good = await stack.enter_async_context(stream(speech, account="good"))
        await good.expect("ready")
        for each in evil:
            await each.send_audio(silence(300), NOISE, silence(200))
        assert (await evil[2].expect("error"))["code"] == "overloaded"
        assert await evil[2].expect_close() == 1013
        for each in (*evil[:2], good):
            await each.send({"type": "stop"})
            assert await each.expect_close() == 1000
        assert [each["type"] for each in evil[0].received if each["type"] == "error"] == []


async def test_an_account_with_as_many_streams_has_no_more_room() -> None:
    """Equal shares stay as they are."""
    async with pool_of(1, 2) as pool:
        first = await opened(pool, "a")
        await opened(pool, "b")
        for account in ("a", "b", "c"):
            with pytest.raises(RecognitionFailed, match="2 streams"):
                await opened(pool, account)
        await first.feed(NOISE)
        await first.close()
        await opened(pool, "c")


async def test_accounts_have_workers_of_their_own_if_possible() -> None:
    """What one does to its worker does not reach the other."""
    async with pool_of(2, 10) as pool:
        for account in ("a", "b", "a", "b", "b"):
            await opened(pool, account)
        accounts = [{each.account for each in worker.streams} for worker in pool.workers]
    assert accounts == [{"a"}, {"b"}]


async def test_a_small_account_does_not_wait_for_a_busy_one(voices: Voices) -> None:
    """However far behind the recognizer is with the other account's streams."""
    audio = await voices.say("yes")
    async with pool_of(1, 20, behind_s=0.1) as pool:
        evil = [await opened(pool, "evil") for _ in range(6)]
        floods = [asyncio.create_task(flood(each)) for each in evil]
        with pytest.raises(RecognitionFailed, match=r"behind|the newest one"):
            await until_behind(pool)
        good = await opened(pool, "good")
        for at in range(0, len(audio), 320):
            await good.feed(audio[at : at + 320])
        done = await (await good.finish())
        assert done.words
        ended = await asyncio.gather(*floods)
        # Being behind for long, it has lost its newest streams, and the oldest one goes on.
        assert ended[0] == "done"
        assert "overloaded" in ended


async def flood(stream: WorkerStream) -> str:
    """Feed audio as fast as the worker takes it, 16 s of it."""
    try:
        for _ in range(25):
            await stream.feed(NOISE)
    except RecognitionFailed as error:
        return error.code
    return "done"


async def until_behind(pool: WorkerPool) -> None:
    """Open streams of the busy account until it gets no more."""

    async def is_refused() -> bool:
        await (await opened(pool, "evil")).close()
        return False

    await until(is_refused, what="the account to be behind")


async def test_a_worker_that_hangs_ends_for_who_caused_it() -> None:
    """The account gets no worker for a while; another one has the next at once."""
    async with pool_of(1, 10, reply_s=5.0) as pool:
        evil, good = await opened(pool, "evil"), await opened(pool, "good")
        pid = pool.workers[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        await evil.feed(NOISE)
        heard = await good.finish()
        with pytest.raises(RecognitionFailed, match="the recognizer ended"):
            await heard
        with pytest.raises(RecognitionFailed, match="no result in time"):
            await evil.feed(NOISE)
        await good.close()
        with pytest.raises(RecognitionFailed, match="has stopped a recognizer"):
            await opened(pool, "evil")
        again = await opened(pool, "good")
        await again.feed(NOISE)
        assert await (await again.finish()) is not None


async def test_an_account_alone_that_hangs_a_worker_has_the_next() -> None:
    """Perhaps the machine was busy, and no other account was there."""
    async with pool_of(1, 10, reply_s=5.0) as pool:
        stream = await opened(pool, "a")
        pid = pool.workers[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        heard = await stream.finish()
        with pytest.raises(RecognitionFailed, match="no result in time"):
            await heard
        await stream.close()
        again = await opened(pool, "a")
        assert await (await again.finish()) is not None
