"""Named tasks: start, cancel, failure."""

import asyncio

from engine.runtime.base.tasks import Tasks


async def test_all_tasks_of_a_name_are_cancelled() -> None:
    """Tasks of other names continue; a cancelled task is no failure."""
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


async def test_a_failure_is_reported() -> None:
    """A task that ends by itself is forgotten; a task that fails is reported."""
    faults: list[BaseException] = []
    tasks = Tasks(faults.append)

    async def done() -> None:
        await asyncio.sleep(0)

    async def broken() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    tasks.start("a", done())
    tasks.start("a", broken())
    while not faults:  # noqa: ASYNC110 - a turn of the loop, no time
        await asyncio.sleep(0)
    assert [str(each) for each in faults] == ["broken"]
    await tasks.close()


async def test_end_waits_for_the_tasks() -> None:
    """After `end` the caller may close what the tasks have used."""
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


async def test_a_task_starts_after_cancelled_ones_have_ended() -> None:
    """A cancelled task ends before another of its name starts, or before that one is cancelled."""
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
    while "second begins" not in happened:  # noqa: ASYNC110 - a turn of the loop, no time
        await asyncio.sleep(0)
    assert happened == ["first begins", "first ends", "second begins"]
    await tasks.close()
