"""`switchroom call list --watch`: a table that the event stream of any engine updates."""

import io

from rich.console import Console

from cli.live.table import CallTable, render, summary
from tests.harness.cli.followed_calls import event, view


def test_a_board_follows_a_call_from_its_beginning_to_its_end() -> None:
    """It comes, changes and goes; how it ended is counted."""
    board = CallTable()
    board.apply(event("a", "initiated", "initiated"))
    board.apply(event("a", "ringing", "ringing"))
    board.apply(event("b", "initiated", "initiated"))
    assert summary(board) == "2 live: 1 initiated, 1 ringing"
    board.apply(event("a", "answered", "in-progress"))
    board.apply(event("a", "gathered", "in-progress", dtmf="42"))
    assert board.calls["a"].last_event == "gathered 42"
    board.apply(event("a", "completed", "completed"))
    board.apply(event("b", "completed", "busy"))
    assert summary(board) == "0 live; ended since start: 1 completed, 1 busy"


def test_a_list_that_was_ahead_is_not_taken_back() -> None:
    """Events older than the list do not set a status back."""
    board = CallTable()
    board.fill([view("a", "in-progress")])
    board.apply(event("a", "ringing", "ringing"))
    assert board.calls["a"].status == "in-progress"
    assert board.calls["a"].since_ms == 500
    board.apply(event("gone", "answered", "in-progress"))
    assert "gone" not in board.calls


def test_it_is_drawn_with_ages() -> None:
    """States first, a note when nothing moves, then each call."""
    board = CallTable(note="no engine answers")
    board.fill([view("3-pbx1-abc", "ringing")])
    console = Console(file=io.StringIO(), width=120)
    console.print(render(board, 2_500))
    assert isinstance(console.file, io.StringIO)
    first, note, _head, row = console.file.getvalue().splitlines()
    assert (first, note) == ("1 live: 1 ringing", "no engine answers")
    assert row.split()[0] == "3-pbx1-abc"
    assert row.rstrip().endswith("2.0 s")
