"""Errors in settings: one line for each, with the variable and what is allowed."""

from collections.abc import Mapping

import pytest

from base.invalid_settings import InvalidSettings
from base.settings import load
from engine.config import Settings
from tests.harness.settings import SECRET

OTHER = "another-token-012345"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"FURTHER_RPC_TOKENS": OTHER},
            'SWITCHROOM_FURTHER_RPC_TOKENS: a JSON list such as ["…"] is expected',
        ),
        ({"NODES": "pbx1"}, 'SWITCHROOM_NODES: a JSON list such as [{"…": "…"}] is expected'),
        (
            {"RPC_CLIENTS": "{monitor}"},
            'SWITCHROOM_RPC_CLIENTS: a JSON object such as {"…": "…"} is expected',
        ),
        (
            {"RPC_CLIENTS": f'{{"monitor": {{"token": "{SECRET}"}}}}'},
            "SWITCHROOM_RPC_CLIENTS: monitor needs a token of its own",
        ),
        (
            {"RPC_CLIENTS": f'{{"monitor": {{"token": "{OTHER}", "readonly": true}}}}'},
            (
                "SWITCHROOM_RPC_CLIENTS__MONITOR__READONLY: no such key;"
                " one of token, further_tokens, read_only is expected"
            ),
        ),
    ],
)
def test_an_error_is_a_line(
    values: Mapping[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It contains no value, which may be a secret."""
    monkeypatch.setenv("SWITCHROOM_RPC_TOKEN", SECRET)
    for name, value in values.items():
        monkeypatch.setenv(f"SWITCHROOM_{name}", value)
    with pytest.raises(InvalidSettings) as error:
        load(Settings)
    assert error.value.lines == (text,)


def test_keys_of_an_item_of_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a node."""
    monkeypatch.setenv("SWITCHROOM_RPC_TOKEN", SECRET)
    node = f'{{"name": "pbx1", "url": "http://a:8088", "password": "{SECRET}", "port": 1}}'
    monkeypatch.setenv("SWITCHROOM_NODES", f"[{node}]")
    with pytest.raises(InvalidSettings, match=r"^SWITCHROOM_NODES__0__PORT: no such key; "):
        load(Settings)
