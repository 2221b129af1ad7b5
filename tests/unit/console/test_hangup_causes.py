"""The console's words for hangup causes: those of commands."""

from tools.docs.hangup_causes import FILE, source


def test_the_console_has_the_words_of_commands() -> None:
    """Else run `make docs`."""
    assert FILE.read_text() == source()
