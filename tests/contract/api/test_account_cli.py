"""`switchroom account`: what is refused is told in a line, with status 2; nothing is guessed."""

from pathlib import Path

import pytest

from tests.contract.api.cli import switchroom


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "bad name"), "bad name: expected "),
        (("create", "acme", "--allow", "47"), "--allow 47: a prefix such as +47"),
        (("region", "acme", "Norway"), "Norway: a country such as NO"),
        (("email", "acme", "nobody"), "nobody: an address such as crm@example.com"),
        (("number", "add", "acme", "12"), "12: a number such as +4721930000"),
        (("dnc", "import", "acme", __file__, "--provider", ""), "--provider: 1 to 64 letters"),
    ],
)
async def test_what_can_not_be_read(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """It is told with what is expected, before any database is made."""
    status, told = await switchroom(tmp_path, "account", *words)
    assert (status, told.startswith(f"switchroom: {said}")) == (2, True), told


@pytest.mark.parametrize(
    "words", [("key", "list"), ("number", "list"), ("dnc-token", "list"), ("dnc-token", "create")]
)
async def test_an_account_that_there_is_not(tmp_path: Path, words: tuple[str, ...]) -> None:
    """It has no empty list: whoever mistypes a name hears of it."""
    status, told = await switchroom(tmp_path, "account", *words, "acct_nope")
    assert (status, told.splitlines()[-1]) == (2, "switchroom: no account acct_nope")


@pytest.mark.parametrize("limit", ["--max-calls", "--max-calls-per-s"])
async def test_no_limit_is_below_nothing(tmp_path: Path, limit: str) -> None:
    """One that no call could keep is refused, and nothing is made."""
    status, told = await switchroom(tmp_path, "account", "create", "acme", limit, "-1")
    assert status != 0
    assert "Must be >= 0" in told
    status, told = await switchroom(tmp_path, "account", "number", "list", "acme")
    assert (status, told.splitlines()[-1]) == (2, "switchroom: no account acme")


async def test_a_number_comes_and_goes(tmp_path: Path) -> None:
    """`add`, `list`, `rm`."""
    mine = (tmp_path, "account")
    assert (await switchroom(*mine, "create", "acme"))[0] == 0
    assert (await switchroom(*mine, "number", "add", "acme", "+4721930000"))[0] == 0
    assert await switchroom(*mine, "number", "list", "acme") == (0, "+4721930000\n")
    assert (await switchroom(*mine, "number", "rm", "acme", "+4721930000"))[0] == 0
    assert await switchroom(*mine, "number", "list", "acme") == (0, "")
    told = "switchroom: no such number: +4721930000 of account acme\n"
    assert await switchroom(*mine, "number", "rm", "acme", "+4721930000") == (1, told)
