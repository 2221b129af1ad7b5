"""The plugin of pytest that adds evidence to the reports of failed tests with real programs."""

import functools
import inspect
import traceback
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.harness.evidence.collector import Collector, start_collecting
from tests.harness.evidence.report import folder_of, write_evidence
from tests.harness.gate.results import LAG, without_group

COLLECTOR = pytest.StashKey[Collector]()


class Evidence:
    """Collects for the tests in `folders`; writes to a folder for each test below `root`."""

    def __init__(self, root: Path, folders: Sequence[Path]) -> None:
        self._root = root
        self._folders = folders
        self._collector: Collector | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if self._collects(item):
            self._begin(item.config)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Let the test say in which event loop it runs."""
        if not isinstance(item, pytest.Function) or not self._measures(item):
            return (yield)
        test = item.obj
        item.obj = self._measured(test)
        try:
            return (yield)
        finally:
            item.obj = test

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and self._collects(item) and self._collector is not None:
            setattr(report, LAG, self._collector.meter.late())
            folder = folder_of(self._root, without_group(item.nodeid), report.when)
            factory = item.config._tmp_path_factory  # type: ignore[attr-defined]  # its plugin sets it  # noqa: SLF001 - no public name for it outside of a test
            logs = factory.getbasetemp()
            try:
                report.sections += write_evidence(self._collector, folder, logs)
            except Exception:  # noqa: BLE001 - the report of the failure matters more
                report.sections.append(("evidence", traceback.format_exc()))
        return report

    def pytest_sessionfinish(self) -> None:
        if self._collector is not None:
            self._collector.meter.stop()

    def _collects(self, item: pytest.Item) -> bool:
        return any(item.path.is_relative_to(each) for each in self._folders)

    def _begin(self, config: pytest.Config) -> None:
        if self._collector is None:
            self._collector = config.stash[COLLECTOR] = Collector()
            start_collecting(self._collector)
        else:
            self._collector.begin()

    def _measures(self, item: pytest.Function) -> bool:
        is_async = inspect.iscoroutinefunction(item.obj)
        return is_async and self._collects(item) and not hasattr(item.obj, "hypothesis")

    def _measured(
        self, test: Callable[..., Coroutine[Any, Any, None]]
    ) -> Callable[..., Coroutine[Any, Any, None]]:
        assert self._collector is not None
        meter = self._collector.meter

        @functools.wraps(test)
        async def measured(*arguments: object, **fixtures: object) -> None:
            with meter.measuring_loop():
                await test(*arguments, **fixtures)

        return measured
