"""Finds addresses of names; slow names of one account delay no other account."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from weakref import WeakValueDictionary

from aiohttp.abc import AbstractResolver, ResolveResult

# A family, a kind, a protocol, a canonical name, and an address of that family.
Found = tuple[
    socket.AddressFamily,
    socket.SocketKind,
    int,
    str,
    tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes],
]
LookUp = Callable[[str, int], Sequence[Found]]  # blocks; raises OSError

CUSTOMERS_THREADS = 32
MAX_LOOKUPS_PER_ACCOUNT = 2  # at once: a name whose servers are silent holds a thread for long
FRESH_S = 10.0
MAX_FRESH = 1_000  # customers choose the names: bound the memory


class Lookups:
    """Lookups in threads; each account has a few at once, and its others wait.

    What was found is used for some seconds, by all. `clock` returns seconds.
    """

    def __init__(
        self,
        look_up: LookUp,
        threads: Executor,
        per_account: int = MAX_LOOKUPS_PER_ACCOUNT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._threads = threads
        self._per_account = per_account
        self._clock = clock
        self._fresh: dict[tuple[str, int], tuple[float, Sequence[Found]]] = {}
        # An account has slots only while somebody uses or awaits one.
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def find(self, account: str, host: str, port: int) -> Sequence[Found]:
        """Return the addresses of a host, of a literal at once; raises OSError."""
        if (found := _literal(host, port) or self._known(host, port)) is not None:
            return found
        slots = self._slots.setdefault(account, asyncio.Semaphore(self._per_account))
        await slots.acquire()
        if (found := self._known(host, port)) is not None:  # meanwhile
            slots.release()
            return found
        loop = asyncio.get_running_loop()

        def end(work: Future[Sequence[Found]]) -> None:
            # A thread goes on when who waited has given up, and holds its slot until its end.
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._keep, (host, port), work)
                loop.call_soon_threadsafe(slots.release)

        work = self._threads.submit(self._look_up, host, port)
        work.add_done_callback(end)
        return await asyncio.wrap_future(work)

    def _known(self, host: str, port: int) -> Sequence[Found] | None:
        until_s, found = self._fresh.get((host, port), (0.0, None))
        return found if until_s > self._clock() else None

    def _keep(self, name: tuple[str, int], work: Future[Sequence[Found]]) -> None:
        if work.cancelled() or work.exception() is not None:
            return
        if len(self._fresh) >= MAX_FRESH:
            self._fresh.clear()
        self._fresh[name] = self._clock() + FRESH_S, work.result()


def look_up(host: str, port: int) -> Sequence[Found]:
    """Return what the machine's resolver finds."""
    return _addresses(host, port, 0)


def _literal(host: str, port: int) -> Sequence[Found] | None:
    try:
        return _addresses(host, port, socket.AI_NUMERICHOST)
    except OSError:
        return None


def _addresses(host: str, port: int, flags: int) -> Sequence[Found]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    except UnicodeError:  # a part of the name is empty or too long
        text = "the name is not one of DNS"
        raise socket.gaierror(socket.EAI_NONAME, text) from None


# An HTTP client says to its resolver only which host it is; "": connections of no account.
_ACCOUNT: ContextVar[str] = ContextVar("account", default="")


@contextmanager
def connecting_for(account: str) -> Iterator[None]:
    """Let new connections of this task use the account's share of lookups."""
    token = _ACCOUNT.set(account)
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


class AccountResolver(AbstractResolver):
    """Resolves names for the account of the task; its connector must keep no names of its own.

    Such a connector would let a request wait for the lookup of another account.
    """

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of all families, as connectors want them; raises OSError."""
        del family
        found = await self._lookups.find(_ACCOUNT.get(), host, port)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """Do nothing: threads belong to who has made the lookups."""
