"""The table of error codes has what the source can produce, and nothing else."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from engine.calls.model import causes
from engine.listeners import LOST
from engine.runtime.admission.inbound import BAD_ROUTE, DIAL_LOOP, OTHER_ACCOUNT
from engine.runtime.admission.node_selection import ENGINE_CODES, NODE_CODES
from engine.runtime.agents.agent_presence import AgentRejection
from engine.runtime.base.interfaces import CallRejection, DialRejection
from tests.harness.each import for_each
from tests.harness.raised_codes import Raised, raised_codes
from wire.error_codes.catalogue import (
    CATALOGUE,
    FAMILY_END,
    GROUPS,
    ErrorCode,
    code_of_status,
    find_code,
)
from wire.error_codes.problems import coded_problem
from wire.webhooks import StreamEndReason

# What the syntax trees do not show as a text where it is raised.
_COMPUTED = {
    *NODE_CODES,
    *ENGINE_CODES,
    *get_args(DialRejection),
    *get_args(CallRejection),
    *get_args(AgentRejection),
    *set(get_args(StreamEndReason)) - {"bot-closed", "stopped", "max-duration", "hangup"},
    *map(code_of_status, range(400, 600)),
    *map(causes.reason, range(128)),
    *(causes.reason(cause, is_answered=True) for cause in range(128)),
    BAD_ROUTE,
    DIAL_LOOP,
    LOST,
    OTHER_ACCOUNT,
    "store_overflow",  # engine/runtime/shard/step_runner.py
    "call_too_large",  # the same
    "read_only",  # engine/rpc/access.py
    "no_rest",  # cli/errors.py
    "action_failed",  # engine/calls/verbs/awaiting_instructions.py
    "platform_nnn",  # api/messaging_platform/problems.py: PlatformRejected
} - {""}  # fmt: skip
_STATUSES = {
    "InvalidRequest": {400},
    "Forbidden": {403},
    "PreconditionFailed": {412},
    "TooManyRequests": {429},
    "LimitReached": {429},
    "ServiceUnavailable": {503},
    "NoCapacity": {503},
    "Rejection": {404, 409},
    "Unauthenticated": {401},
    "_conflict": {409},
    "_missing": {404},
}
ROWS = [each for group in GROUPS for each in group.codes]


@for_each(lambda: sorted({each.code for each in raised_codes()} | _COMPUTED))
def test_a_code_that_is_raised_is_in_the_table(code: str) -> None:
    """A new code needs its entry in `wire/error_codes/groups`."""
    assert find_code(code.replace("*", "nnn")) is not None


@for_each(CATALOGUE)
def test_a_code_of_the_table_is_raised(code: str) -> None:
    """The row of a code that no program produces any more is removed."""
    assert code in _COMPUTED | {each.code.replace("*", "nnn") for each in raised_codes()}


def test_each_file_is_a_group() -> None:
    """The table names its files, in the order of the page."""
    folder = Path(__file__).parents[3] / "wire/error_codes/groups"
    assert len(list(folder.glob("*.toml"))) == len(GROUPS)


def test_each_code_is_in_one_group() -> None:
    """A second row would hide the first."""
    assert [code for code, count in Counter(each.code for each in ROWS).items() if count > 1] == []


@for_each(ROWS, lambda row: row.code)
def test_a_row_is_complete(row: ErrorCode) -> None:
    """Titles are short, and texts are sentences."""
    assert len(row.title) <= 40
    assert not row.title.endswith(".")
    assert [each for each in (row.meaning, row.action) if each[-1:] != "."] == []
    assert not row.cause or row.cause.endswith(".")  # the meaning may say it
    assert row.places


@for_each(lambda: [each for each in raised_codes() if each.by in _STATUSES])
def test_a_row_has_the_status_that_the_source_gives(raised: Raised) -> None:
    """The class of an error decides its status."""
    found = find_code(raised.code)
    assert found is not None
    assert _STATUSES[raised.by] & set(found.statuses), raised


@pytest.mark.parametrize(
    ("code", "family"),
    [("status_503", "status_nnn"), ("platform_132000", "platform_nnn"),
     ("grpc_unavailable", "grpc_nnn"), ("platform_down", "platform_down")],
)  # fmt: skip
def test_codes_that_begin_alike_have_one_page(code: str, family: str) -> None:
    """Unless one of them has its own row."""
    assert coded_problem(400, code).type == f"/docs/errors/{family}"
    assert coded_problem(400, code).code == code


def test_an_unknown_code_has_no_page() -> None:
    """That of a newer engine keeps its code; its title is that of the status (RFC 9457, 4.2.1)."""
    found = coded_problem(409, "of_tomorrow", "not yet")
    assert (found.type, found.title, found.code) == ("about:blank", "Conflict", "of_tomorrow")
    assert coded_problem(499, "of_tomorrow").title == "Error"


def test_a_family_is_no_code() -> None:
    """Its row ends like no code does."""
    families = [each.code for each in ROWS if each.code.endswith(FAMILY_END)]
    assert sorted(families) == ["grpc_nnn", "platform_nnn", "status_nnn"]
