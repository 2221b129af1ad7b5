"""Tasks that come and go by name."""

import asyncio

from engine.runtime.base.tasks import Tasks


async def test_all_of_a_name_are_cancelled() -> None:
    """Those of another name run on; what is cancelled is no failure."""
    faults: list[BaseException] = []
    tasks, ends = Tasks(faults.append), list[str]()

    async def work(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append(name)

    for name in ("ears", "ears", "pen"):
        tasks.start(name, work(name))
    await asyncio.sleep(0)
    tasks.cancel("ears")
    tasks.cancel("ears")
    await asyncio.sleep(0)
    assert ends == ["ears", "ears"]
    await tasks.close()
    assert (ends, faults) == (["ears", "ears", "pen"], [])


async def test_a_failure_is_told() -> None:
    """One that ends by itself is forgotten; one that fails is told."""
    faults: list[BaseException] = []
    tasks = Tasks(faults.append)

    async def done() -> None:
        await asyncio.sleep(0)

    async def broken() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    tasks.start("a", done())
    tasks.start("a", broken())
    while not faults:  # noqa: ASYNC110 - the loop is to turn until it is told
        await asyncio.sleep(0)
    assert [str(each) for each in faults] == ["broken"]
    await tasks.close()


async def test_an_end_is_waited_for() -> None:
    """Who ends a name may close what its tasks use."""
    tasks, ends = Tasks(lambda _error: None), list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ends.append("work")

    tasks.start("node", work())
    await asyncio.sleep(0)
    await tasks.end("node")
    assert ends == ["work"]


async def test_one_ends_before_the_next_begins() -> None:
    """What was cancelled has ended before another of its name begins, or is cancelled itself."""
    tasks, happened = Tasks(lambda _error: None), list[str]()

    async def work(name: str) -> None:
        happened.append(f"{name} begins")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            happened.append(f"{name} ends")

    tasks.start("ears", work("first"))
    await asyncio.sleep(0)
    tasks.cancel("ears")
    tasks.start("ears", work("never"))
    tasks.cancel("ears")
    tasks.start("ears", work("second"))
    while "second begins" not in happened:  # noqa: ASYNC110 - the loop is to turn until it is
        await asyncio.sleep(0)
    assert happened == ["first begins", "first ends", "second begins"]
    await tasks.close()
