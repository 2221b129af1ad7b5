"""A plugin of pytest that collects all tests once, then runs those of each mutant in a fork.

It serves connections whose descriptors it is given, each in a process, the server. That forks a
child for each request, which changes the functions of a mutant and runs the tests.
"""

import gc
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection

import msgspec
import pytest
import structlog
from msgspec import Struct
from structlog.dev import ConsoleRenderer, plain_traceback

from tools.mutants.loaded_functions import LoadedFunctions, is_loaded
from tools.mutants.mutant_finder import MutantFinder
from tools.mutants.mutations import Mutant
from tools.mutants.packages import UNIT_TESTS

DESCRIPTORS = "SWITCHROOM_MUTANTS_CONNECTIONS"  # of the connections, separated by blanks
MAX_MEMORY = 8 << 30
UNIT_TIMEOUT_S = 20
OVER, UNFIT = "over", "unfit"
ENDS = {OVER.encode(), UNFIT.encode()}


class Request(Struct, frozen=True):
    """Tests to run with a mutant; `seconds` is what they take without one."""

    mutant: Mutant
    tests: Sequence[str]
    stops_at_failure: bool
    cpu_s: int
    wall_s: float
    log: str


class Answer(Struct, frozen=True):
    """The tests that failed; `ended` is False when the time was over before."""

    failed: Sequence[str] = ()
    ended: bool = True
    fits: bool = True  # False: the mutant changes what an import runs


class Watch:
    """Tells the server which tests begin and fail."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self.has_failed = False

    def tell(self, *words: str) -> None:
        """Write one line."""
        os.write(self._pipe, (" ".join(words) + "\n").encode())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails, also in its setup or its end."""
        if report.failed:
            self.has_failed = True
            self.tell("failed", report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        """Let what the tests have left open be reported by the last of them."""
        if nextitem is None:
            gc.collect()


class ForkServer:
    """Answers the requests of one connection, one after another."""

    def __init__(self, session: pytest.Session, connection: Connection) -> None:
        self._session = session
        self._items = {each.nodeid: each for each in session.items}
        self._functions = LoadedFunctions()
        self._connection = connection
        gc.collect()
        gc.freeze()  # children need no pages of their own for what they do not change

    def serve(self) -> None:
        """Answer until the other side closes."""
        self._connection.send_bytes(b"ready")
        while True:
            try:
                request = msgspec.json.decode(self._connection.recv_bytes(), type=Request)
            except EOFError:
                return
            self._connection.send_bytes(msgspec.json.encode(self._answer(request)))

    def _answer(self, request: Request) -> Answer:
        reader, writer = os.pipe()
        with tempfile.TemporaryDirectory(prefix="mutant") as folder:
            pid = os.fork()
            if pid == 0:
                os.close(reader)
                self._run(request, writer, folder)
            os.setpgid(pid, pid)
            os.close(writer)
            try:
                return _read(reader, pid, time.monotonic() + request.wall_s)
            finally:
                os.close(reader)
                _end(pid)

    def _run(self, request: Request, pipe: int, folder: str) -> None:
        """Run the tests in this process, and end it."""
        watch = Watch(pipe)
        try:
            _prepare(request, folder)
            if is_loaded(request.mutant):
                fits = self._functions.put(request.mutant)
            else:
                fits = True
                sys.meta_path.insert(0, MutantFinder(request.mutant))
            if fits:
                self._run_tests(request, watch)
            watch.tell(OVER if fits else UNFIT)
        except BaseException:  # noqa: BLE001 - the answer then says that they did not end
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def _run_tests(self, request: Request, watch: Watch) -> None:
        config = self._session.config
        config.pluginmanager.register(watch)
        items = [self._items[each] for each in request.tests if each in self._items]
        for item, following in zip(items, [*items[1:], None], strict=True):
            watch.tell("began", item.nodeid)
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.has_failed and request.stops_at_failure:
                break
        config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)


def _prepare(request: Request, folder: str) -> None:
    os.setpgid(0, 0)
    for kind, limit in (
        (resource.RLIMIT_CPU, request.cpu_s),
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))
    output = os.open(request.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = tempfile.tempdir = folder


def _read(pipe: int, pid: int, deadline_s: float) -> Answer:
    """Read what a child tells until it is over, has ended otherwise, or has no more time."""
    poller = select.poll()
    process = os.pidfd_open(pid)
    poller.register(process, select.POLLIN)
    poller.register(pipe, select.POLLIN)
    text = b""
    try:
        while (left_s := deadline_s - time.monotonic()) > 0:
            ready = [each for each, _ in poller.poll(left_s * 1_000)]
            if pipe in ready:
                part = os.read(pipe, 1 << 20)
                text += part
            else:
                part = b""
            if not part or text[-99:].splitlines()[-1] in ENDS:
                break
    finally:
        os.close(process)
    return _parse(text.decode())


def _parse(text: str) -> Answer:
    failed, running, end = dict[str, None](), "", ""
    for line in text.splitlines():
        word, _, test = line.partition(" ")
        match word:
            case "began":
                running = test
            case "failed":
                failed[test] = None
            case _:
                end = word
    if end == UNFIT:
        return Answer(fits=False)
    if end != OVER and running:
        failed[running] = None
    return Answer(list(failed), ended=end == OVER)


def _end(pid: int) -> None:
    """Kill a child and the processes that its tests have started."""
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """End a unit test early that hangs: it takes milliseconds otherwise."""
    for item in items:
        if item.nodeid.startswith(UNIT_TESTS):
            item.add_marker(pytest.mark.timeout(UNIT_TIMEOUT_S))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Serve instead of running all tests."""
    _print_plain_tracebacks()
    children = []
    descriptors = [int(each) for each in os.environ[DESCRIPTORS].split()]
    for descriptor in descriptors:
        pid = os.fork()
        if pid == 0:
            for other in set(descriptors) - {descriptor}:
                os.close(other)
            ForkServer(session, Connection(descriptor)).serve()
            os._exit(0)
        children.append(pid)
    for descriptor in descriptors:
        os.close(descriptor)
    for pid in children:
        os.waitpid(pid, 0)
    return True


def _print_plain_tracebacks() -> None:
    """Let logs of exceptions, which mutants cause, cost little: nobody reads them."""
    plain = ConsoleRenderer(colors=False, exception_formatter=plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
