"""Signatures: a matching call always passes, another one almost never."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cdrs.query.bloom_marks import (
    BIT_WIDTHS,
    agent_signature,
    signature_bits,
    signature_mask,
    signature_of,
)
from api.cdrs.query.filters import COLUMNS, PURPOSES, Filters

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
NAMES = [name for name in COLUMNS if name in BIT_WIDTHS]
ROWS = st.fixed_dictionaries(
    dict.fromkeys(NAMES, TEXTS)
    | {name: st.booleans() for name in ("is_answered", *PURPOSES.values())}
)


@given(ROWS, st.lists(TEXTS, max_size=3), st.sets(st.sampled_from(NAMES)), st.data())
def test_matching_calls_pass_the_signature(
    row: dict[str, Any], agents: list[str], names: set[str], data: st.DataObject
) -> None:
    """For every filter, including one of several agents."""
    purposes = ["", *(purpose for purpose, name in PURPOSES.items() if row[name])]
    some = data.draw(st.lists(st.sampled_from(agents), min_size=1)) if agents else []
    requested = Filters(
        "acme",
        **{name: row[name] for name in names},
        is_answered=data.draw(st.sampled_from([None, row["is_answered"]])),
        purpose=data.draw(st.sampled_from(purposes)),
        agent_names=(*some, "somebody else") if agents else (),
    ).parameters
    marks = signature_of(row, agents)
    assert marks & requested["mask"] == requested["marks"]
    assert not agents or marks & requested["agent_marks"]


@given(ROWS, ROWS, st.sets(st.sampled_from(NAMES)))
def test_replacing_bits_changes_only_those_columns(
    row: dict[str, Any], other: dict[str, Any], names: set[str]
) -> None:
    """Replacing the bits of some columns gives the signature of the new values."""
    new = {name: other[name] for name in names}
    marks = signature_of(row, ["Nina"]) & ~signature_mask(new) | sum(
        signature_bits(*each) for each in new.items()
    )
    assert marks == signature_of(row | new, ["Nina"])


@pytest.mark.parametrize("name", [name for name, width in BIT_WIDTHS.items() if width > 1])
def test_values_are_distinguished(name: str) -> None:
    """The collision rate corresponds to the width."""
    alike = sum(
        signature_bits(name, f"{name}{n}") == signature_bits(name, "it") for n in range(1_000)
    )
    assert alike < 2 * 1_000 / (1 << BIT_WIDTHS[name])


def test_signatures_fit_a_signed_number() -> None:
    """The signature fits a signed 64-bit column, and is never negative."""
    everybody = (f"Agent {number}" for number in range(1_000))
    assert signature_mask(BIT_WIDTHS) & agent_signature(everybody) == 0
    assert (
        signature_mask(BIT_WIDTHS) | agent_signature(f"Agent {number}" for number in range(1_000))
        < 1 << 63
    )


def test_missing_values_set_no_bit() -> None:
    """A missing value sets no bit."""
    assert signature_of({"client_id": None, "is_answered": False}, []) == 0
