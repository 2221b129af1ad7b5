"""`switchroom convert`: what is printed where, and the exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(
    file: Path | str, content: bytes = b"", options: tuple[str, ...] = (), kind: str = "twiml"
) -> subprocess.CompletedProcess[bytes]:
    command = (sys.executable, "-m", "switchroom", "convert", kind, str(file), *options)
    return subprocess.run(command, input=content, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("verbs", "status", "said"),
    [
        ("<Say>a</Say>", 0, ""),
        ("<Say voice='x'>a</Say>", 0, ":1: <Say> voice x becomes the voice of the language"),
        ("<Say>a</Say>\n<Enqueue/>", 1, ":2: <Enqueue> has no counterpart"),
        ("<Say x='y'>a</Say>", 1, ":1: <Say> x is not converted"),
    ],
)
def test_the_tree_is_printed(tmp_path: Path, verbs: str, status: int, said: str) -> None:
    """On standard output; remarks are on standard error with their lines; a loss is status 1."""
    file = tmp_path / "menu.xml"
    file.write_text(f"<Response>{verbs}</Response>")
    for done in (run(file), run("-", file.read_bytes())):
        assert done.returncode == status
        assert json.loads(done.stdout) == {"type": "say", "data": {"text": "a"}}
        assert said in done.stderr.decode()


def test_options_complete_a_document() -> None:
    """Its address and the country of its numbers; without them, both are losses."""
    document = b"<Response><Dial action='/done'>415-123-4567</Dial></Response>"
    options = ("--base-url", "https://example.com/menu", "--region", "US")
    done = run("-", document, options)
    tree = json.loads(done.stdout)
    assert (done.returncode, tree["action"]) == (0, "https://example.com/done")
    assert tree["data"]["number"] == "+14151234567"
    lost = run("-", document)
    assert lost.returncode == 1
    assert b"415-123-4567" in lost.stderr
    assert b"4151234567" not in lost.stdout


@pytest.mark.parametrize("options", [("--region", "XX"), ("--base-url", "menu")])
def test_a_bad_option_is_an_error(options: tuple[str, str]) -> None:
    """Status 2, with the name of the option."""
    done = run("-", b"<Response/>", options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert options[0] in done.stderr.decode()


def test_what_is_not_twiml_is_an_error(tmp_path: Path) -> None:
    """Status 2, one line, and nothing on standard output."""
    (tmp_path / "page.xml").write_text("<html/>")
    for file, said in (
        ("page.xml", "<Response> is expected"),
        ("none.xml", "no such file"),
        ("/dev/zero", "larger than"),  # has no end
    ):
        done = run(tmp_path / file)
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr.decode()


@pytest.mark.parametrize(
    ("verbs", "status", "said"),
    [
        ('[{"verb": "say", "text": "a"}]', 0, ""),
        ('[{"verb": "say", "text": ["a", "b"]}]', 0, ":1: say text: jambonz takes one of several"),
        ('[{"verb": "say", "text": "a"},\n{"verb": "llm"}]', 1, ":2: llm has no counterpart"),
    ],
)
def test_an_application_of_jambonz(tmp_path: Path, verbs: str, status: int, said: str) -> None:
    """Its tree is printed, and remarks have the lines of their verbs."""
    file = tmp_path / "menu.json"
    file.write_text(verbs)
    done = run(file, kind="jambonz")
    assert done.returncode == status
    assert json.loads(done.stdout) == {"type": "say", "data": {"text": "a"}}
    assert said in done.stderr.decode()


def test_what_is_no_application_is_an_error() -> None:
    """Status 2, one line, and nothing on standard output."""
    done = run("-", b"<Response/>", kind="jambonz")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input: line 1: not JSON" in done.stderr
