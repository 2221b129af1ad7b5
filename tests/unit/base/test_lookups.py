"""Addresses of customers' names."""

import asyncio
import socket

import pytest

from base.lookups import FRESH_S, Found, Lookups, look_up
from tests.harness.executors import HeldExecutor

ADDRESS: Found = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 443))


class Names:
    """A resolver that remembers what was requested."""

    def __init__(self) -> None:
        self.requested: list[str] = []

    def look_up(self, host: str, port: int) -> list[Found]:
        self.requested.append(f"{host}:{port}")
        return [ADDRESS]


async def settle() -> None:
    """Let tasks and their callbacks run."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
async def test_a_literal_needs_no_thread(host: str) -> None:
    """So it waits behind no name."""
    names = Names()
    lookups = Lookups(names.look_up, HeldExecutor(), 1)
    found = await lookups.find("a", host, 443)
    assert [each[4][:2] for each in found] == [(host, 443)]
    assert names.requested == []


async def test_a_name_is_looked_up_in_a_thread() -> None:
    """Also one that this machine knows: the loop would wait for its file or its server."""
    names, threads = Names(), HeldExecutor()
    finding = asyncio.create_task(Lookups(names.look_up, threads, 1).find("a", "localhost", 443))
    await settle()
    assert threads.run_all() == 1
    assert await finding == [ADDRESS]


async def test_slow_names_of_one_account_delay_no_other() -> None:
    """Its third waits until one of the first two has ended."""
    names, threads = Names(), HeldExecutor()
    lookups = Lookups(names.look_up, threads, 2)
    accounts = ["a", "a", "a", "b"]
    tasks = [
        asyncio.create_task(lookups.find(account, f"{number}.example", 443))
        for number, account in enumerate(accounts)
    ]
    await settle()
    assert threads.run_all() == 3
    assert names.requested == ["0.example:443", "1.example:443", "3.example:443"]
    await settle()
    assert threads.run_all() == 1
    assert await asyncio.gather(*tasks) == [[ADDRESS]] * 4


async def test_a_lookup_that_waits_may_be_given_up() -> None:
    """Its account has its slot for the next one."""
    names, threads = Names(), HeldExecutor()
    lookups = Lookups(names.look_up, threads, 1)
    first = asyncio.create_task(lookups.find("a", "first.example", 443))
    second = asyncio.create_task(lookups.find("a", "second.example", 443))
    third = asyncio.create_task(lookups.find("a", "third.example", 443))
    await settle()
    second.cancel()
    threads.run_all()
    await settle()
    threads.run_all()
    assert await first == await third == [ADDRESS]
    assert names.requested == ["first.example:443", "third.example:443"]


async def test_an_address_is_used_for_some_seconds() -> None:
    """Also by lookups that waited meanwhile, so a burst of connections is one lookup."""
    names, threads, now = Names(), HeldExecutor(), [0.0]
    lookups = Lookups(names.look_up, threads, 1, lambda: now[0])
    burst = [asyncio.create_task(lookups.find("a", "a.example", 443)) for _ in range(3)]
    await settle()
    threads.run_all()
    assert await asyncio.gather(*burst) == [[ADDRESS]] * 3
    now[0] = FRESH_S
    later = asyncio.create_task(lookups.find("a", "a.example", 443))
    await settle()
    threads.run_all()
    assert await later == [ADDRESS]
    assert names.requested == ["a.example:443"] * 2


@pytest.mark.parametrize("host", ["a..example", "a" * 64 + ".example"])
def test_what_is_no_name_has_no_address(host: str) -> None:
    """It is refused as a name that nobody has."""
    with pytest.raises(OSError, match="DNS"):
        look_up(host, 443)
