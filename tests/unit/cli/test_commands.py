"""The command as people type it, as a process of its own."""

from pathlib import Path

import pytest

from cli.commands.call import NO_OPTIONS, OriginateOptions, originate_body
from cli.errors import UsageError
from cli.options.parsing import action, document, mapping


def test_flags_go_before_the_file() -> None:
    """A call is what its file says, over that the flags."""
    options = OriginateOptions(to="+2", action='{"type": "hangup"}', custom_data='{"a": 1}')
    body = originate_body({"to": "+1", "from": "+3"}, options)
    assert body == {
        "from": "+3",
        "to": "+2",
        "action": {"type": "hangup"},
        "customData": {"a": 1},
    }
    assert originate_body({"to": "+1"}, NO_OPTIONS) == {"to": "+1"}


def test_an_action_is_json_a_file_or_an_address(tmp_path: Path) -> None:
    """All three ways to type an action are understood."""
    (tmp_path / "tree.json").write_text('{"type": "hangup"}')
    assert action("https://example.com/next") == "https://example.com/next"
    assert action('{"type": "hangup"}') == action(f"@{tmp_path}/tree.json") == {"type": "hangup"}


def test_a_file_is_named_alike_everywhere(tmp_path: Path) -> None:
    """With @; a plain name of a file is read, too. A file that is not there is named."""
    name, tree = f"{tmp_path}/tree.json", '{"type": "hangup"}'
    Path(name).write_text(tree)
    for typed in (f"@{name}", name, tree):
        read = (action(typed), mapping(typed, "--contact"), document(typed))
        assert read == ({"type": "hangup"},) * 3
    assert document(None) == {}
    for typed in ("@gone.json", "gone.json"):
        with pytest.raises(UsageError, match=r"^gone.json: No such file"):
            document(typed)
    assert action("https://example.com/" + "a" * 5_000).startswith("https://")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_a_file_has_any_encoding_of_unicode(tmp_path: Path, encoding: str) -> None:
    """With or without a byte order mark."""
    tree, address = tmp_path / "tree.json", tmp_path / "address"
    tree.write_text('{"text": "Åse 😀"}', encoding)
    address.write_text("https://example.com/\n", encoding)
    assert document(f"@{tree}") == action(f"@{tree}") == {"text": "Åse 😀"}
    assert action(f"@{address}") == "https://example.com/"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b'{"a": "\xe5"}', "not UTF-8"), (b"\xff\xfe{\0}", "not UTF-16-LE")],
)
def test_a_file_in_another_encoding_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    """The reason says which encoding its first bytes promise."""
    (tmp_path / "tree.json").write_bytes(content)
    with pytest.raises(UsageError, match=f"tree.json: {reason}$"):
        document(f"@{tmp_path}/tree.json")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ('{"a"', "--contact: not JSON: Expecting ':' delimiter at line 1, column 5"),
        ("[1]", "--contact: expected a JSON object"),
        (
            "a.json",
            "--contact: not JSON: Expecting value at line 1, column 1; expected JSON or @file",
        ),
        ('{"a": "b\n"}', "--contact: not JSON: Invalid control character at line 1, column 9"),
        ('{"a": "b', "--contact: not JSON: Unterminated string starting at line 1, column 7"),
        ("@/nowhere/x.json", "/nowhere/x.json: No such file or directory"),
    ],
)
def test_what_can_not_be_read_shows_its_place(typed: str, expected: str) -> None:
    """Faults in what was typed name the flag or the file, and the place in it."""
    with pytest.raises(UsageError) as fault:
        mapping(typed, "--contact")
    assert str(fault.value) == expected


def test_an_action_that_is_nothing_of_all() -> None:
    """The error names all ways to give an action."""
    with pytest.raises(UsageError) as fault:
        action("tree.json")
    assert str(fault.value).endswith(
        "; expected JSON, @file or a URL, which begins with http:// or https://"
    )
