"""Every operation of the RPC is available over REST, or its page says why it is not."""

import re
from pathlib import Path

from engine.rpc.operations import OPERATIONS
from tests.harness.api.operation_list import operations

PAGE = Path(__file__).parents[3] / "docs/internals/rest-and-rpc.md"
BASE = "/srmain/voice"
_NAMED = re.compile(r"`([A-Z]+) (/[^`]+)`")


def rows() -> list[list[str]]:
    """Return the cells of the page's tables, without their heads."""
    lines = [each for each in PAGE.read_text().splitlines() if each.startswith("| `")]
    return [each.strip("| ").split(" | ") for each in lines]


def test_every_operation_is_in_the_page() -> None:
    """Each once, and each that is not available has a reason."""
    listed = [_NAMED.findall(first)[0] for first, _second in rows()]
    assert sorted(listed) == sorted((each.method.upper(), each.path) for each in OPERATIONS)


def test_every_route_that_the_page_names_exists() -> None:
    """In the REST layer, with the same parameters."""
    exist = {(each.method, each.path) for each in operations()}
    for _first, second in rows():
        for method, path in _NAMED.findall(second):
            full = path if path.startswith("/srmain") else f"{BASE}{path}"
            assert (method, full) in exist, full
