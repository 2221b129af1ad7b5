"""Tutorial, concepts, how-tos, migration, troubleshooting: what readers are to type works."""

import ast
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cyclopts
import pytest

from cli.convert.context import Context
from cli.convert.jambonz.convert import convert as convert_jambonz
from cli.convert.jambonz.fields import ALTERNATIVES as OF_JAMBONZ
from cli.convert.twiml.attributes import ALTERNATIVES as OF_TWILIO
from cli.convert.twiml.convert import convert as convert_twiml
from cli.tree import app
from engine.flows.check import check_graph
from tests.harness.each import for_each
from tests.harness.operations.inputs import unknown_pbx_variables, unknown_settings
from tests.harness.page_blocks import DOCS, GUIDES, page_blocks
from wire.tree import Limits, parse_action

OTHERS = {  # of commands and SDKs
    "SWITCHROOM_API_URL",
    "SWITCHROOM_CONFIG",
    "SWITCHROOM_PROFILE",
    "SWITCHROOM_PUBLIC_URL",
}
LIMITS = Limits(allow_insecure=True)


def name(page: Path) -> str:
    return str(page.relative_to(DOCS))


def commands(text: str) -> list[list[str]]:
    """Return the words of each `switchroom` command in a block of a shell, without comments."""
    joined = re.sub(r"\$\([^)]*\)", "X", text.replace("\\\n", " "))
    lines = re.split(r"\n(?=\S)(?![\"'{}\] ])", joined)
    typed = [each for each in lines if each.startswith("switchroom ")]
    return [shlex.split(each, comments=True) for each in typed]


@for_each(GUIDES, name)
def test_commands_can_be_typed(page: Path) -> None:
    """Each `switchroom` command of a block, and of a code span that has options, is one."""
    spans = re.findall(r"`(switchroom [^`\n…]+)`", page.read_text())
    typed = [shlex.split(each) for each in spans]
    typed += [each for block in page_blocks(page, "sh") for each in commands(block.text)]
    faults = [fault for each in typed if (fault := fault_of(each[1:]))]
    assert faults == []


def fault_of(words: list[str]) -> str:
    """Return why words are no command; a span may name a command without its arguments."""
    if words and words[0] in app and len(words) == 1:
        return ""
    try:
        app.parse_args(words, exit_on_error=False, print_error=False)
    except cyclopts.MissingArgumentError:
        return ""
    except cyclopts.CycloptsError as error:
        return f"{' '.join(words)}: {error}"
    return ""


@for_each(GUIDES, name)
def test_settings_exist(page: Path) -> None:
    """Each `PBX_…` is one of a node, each `SWITCHROOM_…` one of an engine or the REST layer."""
    text = page.read_text()
    named = set(re.findall(r"\b(?:PBX|SWITCHROOM)_[A-Z0-9_]*[A-Z0-9]\b", text)) - OTHERS
    assert unknown_settings(named) | unknown_pbx_variables(named) == set()


@for_each(GUIDES, name)
def test_trees_are_accepted(page: Path) -> None:
    """Each JSON block is JSON, and an engine accepts those that are or contain trees, or flows."""
    for block in page_blocks(page, "json"):
        document: Any = json.loads(block.text)
        if isinstance(document, dict) and "nodes" in document:
            check_graph(document, LIMITS, {})
        elif isinstance(document, dict):
            tree = document if "type" in document else document["action"]
            parse_action(json.dumps(tree).encode(), LIMITS)


@for_each(GUIDES, name)
def test_what_commands_store_is_accepted(page: Path) -> None:
    """The flows and trees that a page stores are without errors."""
    for block in page_blocks(page, "sh"):
        for words in commands(block.text):
            documents = [json.loads(each) for each in words if each.startswith("{")]
            for document in documents:
                if "nodes" in document:
                    check_graph(document, LIMITS, {})
                else:
                    parse_action(json.dumps(document).encode(), LIMITS)


@for_each(GUIDES, name)
def test_programs_are_python(page: Path) -> None:
    """Each block in Python can be compiled."""
    for block in page_blocks(page, "python"):
        ast.parse(block.text)


def test_the_converted_document_is_as_shown() -> None:
    """The page for those who come from Twilio shows a document and its tree."""
    page = DOCS / "migration/from-twilio.md"
    (document,), (tree,) = page_blocks(page, "xml"), page_blocks(page, "json")
    converted = convert_twiml(document.text.encode())
    assert (converted.action, converted.remarks) == (json.loads(tree.text), ())


def test_the_converted_application_is_as_shown() -> None:
    """So does the page for those who come from jambonz."""
    document, tree = page_blocks(DOCS / "migration/from-jambonz.md", "json")
    converted = convert_jambonz(document.text.encode(), Context("https://example.com/call"))
    assert converted.is_complete
    assert converted.action == json.loads(tree.text)


@pytest.mark.parametrize(
    ("name", "alternatives", "span"),
    [("twilio", OF_TWILIO, "`<{}>`"), ("jambonz", OF_JAMBONZ, "`{}`")],
)
def test_converter_and_page_name_the_same(
    name: str, alternatives: Mapping[str, str], span: str
) -> None:
    """What a converter reports with an alternative has a row on the page."""
    rows = (DOCS / f"migration/from-{name}.md").read_text()
    assert [each for each in alternatives if span.format(each) not in rows] == []


async def test_the_program_of_the_opening_hours_runs() -> None:
    """At any hour it returns a tree that an engine accepts; so do both of its trees."""
    (program,) = page_blocks(DOCS / "how-to/after-hours.md", "python")
    names: dict[str, Any] = {}
    exec(program.text, names)  # noqa: S102 - a program of our own page
    returned = await names["open_or_closed"]()
    assert returned in (names["OPEN"], names["CLOSED"])
    for tree in (names["OPEN"], names["CLOSED"]):
        parse_action(json.dumps(tree).encode(), LIMITS)
