"""Output of commands: tables for people, JSON and YAML for programs."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from cli.errors import RequestRejected, run
from cli.output import (
    OutputFormat,
    Shown,
    fields_shown,
    rows_shown,
    shown,
    write_items,
    write_shown,
    yaml_text,
)
from wire.rpc import FieldError, Problem

SCALARS = st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(
    ["no", "2024-01-01", "1e3", "0x1F", "~", "- a", "a: b", "a #b", "12:30:45", "=", ".5", "<<"]
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


@given(VALUES)
def test_yaml_is_what_a_reader_reads(value: object) -> None:
    """A YAML reader gets the value back: no text becomes a number, a date or a mark."""
    assert yaml.safe_load(yaml_text(value)) == value


def test_yaml_is_made_of_blocks() -> None:
    """Mappings and lists are lines with indentation, as people write them."""
    value = {"flowId": "menu", "nodes": [{"a": 1, "b": []}, [2]], "note": "yes", "empty": {}}
    assert yaml_text(value).splitlines() == [
        "flowId: menu", "nodes:", "- a: 1", "  b: []", "- - 2", 'note: "yes"', "empty: {}",
    ]  # fmt: skip


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_programs_get_the_same_value(
    capsysbinary: pytest.CaptureFixture[bytes], output: OutputFormat
) -> None:
    """Both formats have the fields of the server's response."""
    write_shown(shown([FieldError("flowId", "menu", "bad")], "for people"), output)
    assert yaml.safe_load(capsysbinary.readouterr().out) == [
        {"path": "flowId", "message": "menu", "code": "bad"}
    ]


def test_json_is_json(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A list without rows is an empty list, not a text."""
    write_shown(rows_shown([], [("flow", "flowId")], "no flows"), "json")
    assert json.loads(capsysbinary.readouterr().out) == []


def test_people_get_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """A table shows the columns that it names; markup in values is left as it is."""
    rows = [{"flowId": "[b]", "latest": 3, "published": None, "isOpen": True, "tags": ["a", "b"]}]
    columns = [(each, each) for each in ("flowId", "latest", "published", "isOpen", "tags")]
    write_shown(rows_shown(rows, columns, ""), "table")
    write_shown(fields_shown(rows[0]), "table")
    head, row, *fields = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["flowId", "latest", "published", "isOpen", "tags"]
    assert row == ["[b]", "3", "yes", "a", "b"]
    assert fields == [["flowId", "[b]"], ["latest", "3"], ["isOpen", "yes"], ["tags", "a", "b"]]


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A response of a customer's server may have sequences that change title or colours."""
    evil = "a\x1b]0;title\x07\x9b2J\u202etxt.exe\tb\nc"
    write_items(evil, Text(evil), *rows_shown([{"name": evil}], [("name", "name")], "").items)
    assert "\u202e" not in capsys.readouterr().out
    write_items(evil, Text(evil), *rows_shown([{"name": evil}], [("name", "name")], "").items)
    write_shown(Shown(evil, reason=evil), "json")
    written = capsys.readouterr()
    assert not {"\x1b", "\x07", "\x9b"} & {*written.out, *written.err}
    assert json.loads(written.out[written.out.rindex("\n", 0, -1) :]) == evil


def test_errors_have_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    """A fault names a field of a document, which may be a stranger's."""

    async def refused() -> None:
        faults = (FieldError("nodes.\x1b]0;title\x07\x9b2J", "unknown field"),)
        raise RequestRejected(Problem("Invalid input", 400, "invalid", "", faults))

    with pytest.raises(SystemExit):
        run(refused())
    assert not {"\x1b", "\x07", "\x9b"} & {*capsys.readouterr().err}
