"""The pages of commands: all of them, each once, and no text of a command that is gone."""

from functools import cache

from cli.tree import app
from tools.docs.reference.command_texts import NOTES
from tools.docs.reference.commands import COMMON, command_pages, nouns


@cache
def pages() -> dict[str, str]:
    """Return the texts of the pages."""
    return command_pages()


def test_every_noun_has_a_page() -> None:
    """Options of `switchroom` itself have none."""
    assert {name for name in app if not name.startswith("-")} == set(nouns())
    assert set(pages()) == {f"commands/{name}.md" for name in nouns()}


def test_every_verb_is_on_the_page_of_its_noun() -> None:
    """Under its first name; other names of it are left out."""
    headings = [
        line for line in pages()["commands/route.md"].splitlines() if line.startswith("## ")
    ]
    assert headings == ["## route set", "## route show", "## route rm", "## route list"]


def test_notes_are_about_commands() -> None:
    """A note of a noun that was removed would be lost."""
    assert set(NOTES) <= set(nouns())


def test_common_options_are_explained_once() -> None:
    """They are in no table of a command; a profile has an account of its own."""
    assert {
        (name, each) for name, text in pages().items() for each in COMMON if f"| `{each}` |" in text
    } == {("commands/profile.md", "--account")}


def test_every_option_is_explained() -> None:
    """No row of a table lacks its meaning."""
    rows = [
        line for text in pages().values() for line in text.splitlines() if line.startswith("| `")
    ]
    assert len(rows) > 100
    assert [row for row in rows if row.endswith("|  |")] == []
