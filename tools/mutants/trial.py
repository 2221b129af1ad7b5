"""Runs the tests of one mutant in stages: in a server, or in a forked process that imports it."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec
import pytest
from msgspec import Struct

from tools.mutants.fork_client import ForkClient
from tools.mutants.fork_server import Answer, Request
from tools.mutants.mutant_finder import MutantFinder, pass_on
from tools.mutants.mutations import Mutant

Verdict = Literal["killed", "timeout", "survived", "not covered"]
MIN_TIMEOUT_S = 60.0
TIMEOUT_FACTOR = 5.0  # of what the tests take without a mutant
POLL_INTERVAL_S = 0.05
INTERNAL_ERROR = 70
PASSED = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
TEST_TIMEOUT = ("--timeout", "60")
HYPOTHESIS = ("-p", "hypothesispytest", "--hypothesis-seed", "0")
# The parent process has imported plugins already: pytest cannot rewrite their assertions.
IMPORTED_BEFORE = "ignore::pytest.PytestAssertRewriteWarning"


class Trial(Struct, frozen=True):
    """A mutant, the verdict on it, and the stage and the tests that killed it."""

    mutant: Mutant
    verdict: Verdict
    stage: int = 0
    killers: Sequence[str] = ()
    ran: int = 0  # tests of the stage


class Stage(Struct, frozen=True):
    """Tests of a mutant, and the seconds that they take without it."""

    tests: Sequence[str]
    seconds: float
    is_served: bool
    stops_at_failure: bool = True

    def request(self, mutant: Mutant, log: Path) -> Request:
        """Return what to run, with its limits."""
        wall_s = max(MIN_TIMEOUT_S, TIMEOUT_FACTOR * self.seconds)
        return Request(mutant, self.tests, self.stops_at_failure, int(wall_s), wall_s, str(log))


class Run(Protocol):
    """A stage that runs."""

    def poll(self) -> Answer | None:
        """Return the answer once there is one."""
        ...


class RunningTrial:
    """The present stage of one mutant."""

    def __init__(
        self, mutant: Mutant, stages: Sequence[Stage], log: Path, server: ForkClient
    ) -> None:
        self.mutant = mutant
        self.server = server
        self._stages = stages
        self._log = log
        self._at = -1
        self._run: Run | None = None
        self.trial: Trial | None = None if stages else Trial(mutant, "not covered")
        self._start_next()

    def poll(self) -> Trial | None:
        """Return the trial once it is over."""
        answer = self._run.poll() if self.trial is None and self._run else None
        if answer and not answer.fits:
            self._run = ForkedRun(self._request())
        elif answer:
            self._end_stage(answer)
        return self.trial

    def _end_stage(self, answer: Answer) -> None:
        ran = len(self._stages[self._at].tests)
        if not answer.ended:
            self.trial = Trial(self.mutant, "timeout", self._at, answer.failed, ran)
        elif answer.failed:
            self.trial = Trial(self.mutant, "killed", self._at, answer.failed, ran)
        else:
            self._start_next()

    def _start_next(self) -> None:
        self._at += 1
        if self._at == len(self._stages):
            self.trial = self.trial or Trial(self.mutant, "survived")
        elif self._stages[self._at].is_served:
            self._run = self.server.start(self._request())
        else:
            self._run = ForkedRun(self._request())

    def _request(self) -> Request:
        return self._stages[self._at].request(self.mutant, self._log)


class ForkedRun:
    """A stage in a forked process, in which pytest imports the tests and the mutated module."""

    def __init__(self, request: Request) -> None:
        self._log = Path(request.log)
        self._result = self._log.with_suffix(".failed")
        self._result.unlink(missing_ok=True)
        self._deadline_s = time.monotonic() + request.wall_s
        self._pid = os.fork()
        if self._pid == 0:
            _run_tests(request, self._log, self._result)
        os.setpgid(self._pid, self._pid)

    def poll(self) -> Answer | None:
        """Return which tests failed once the process has ended, or its time is over."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            if os.waitstatus_to_exitcode(status) == INTERNAL_ERROR:
                raise RuntimeError(f"{self._log}: {self._log.read_text()}")
            if not self._result.exists():  # a signal has ended it
                return Answer(ended=False)
            return Answer(msgspec.json.decode(self._result.read_bytes(), type=list[str]))
        if time.monotonic() > self._deadline_s:
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            return Answer(ended=False)
        return None


class Failures:
    """A plugin of pytest that notes which tests fail."""

    def __init__(self) -> None:
        self.tests: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails, also in its setup or its end."""
        if report.failed:
            self.tests[report.nodeid] = None


def _failed(request: Request) -> list[str]:
    failures = Failures()
    options = ["-W", IMPORTED_BEFORE, "-q", *HYPOTHESIS, *TEST_TIMEOUT]
    shown = ["--tb", "line", "--show-capture", "no"]
    first = ["-x"] if request.stops_at_failure else []
    try:
        status = int(pytest.main([*options, *shown, *first, *request.tests], plugins=[failures]))
    except (ExceptionGroup, pytest.PytestUnraisableExceptionWarning):
        # At its end, pytest raises the errors, or the only one, of what the tests left open.
        traceback.print_exc()
        status = pytest.ExitCode.TESTS_FAILED
    if (
        status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        and not failures.tests
    ):
        return [str(request.tests[0])]  # they could not be imported
    return list(failures.tests)


def _run_tests(request: Request, log: Path, result: Path) -> None:
    """Run tests in this process and end it, with the failed ones in a file."""
    status = 0
    try:
        os.setpgid(0, 0)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.meta_path.insert(0, MutantFinder(request.mutant))
        pass_on(request.mutant)
        result.write_bytes(msgspec.json.encode(_failed(request)))
    except BaseException:  # noqa: BLE001 - reported by its exit status
        traceback.print_exc()
        status = INTERNAL_ERROR
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
