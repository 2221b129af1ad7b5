"""Settings of the REST layer: invalid values are rejected with the name of their setting."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from api.config import Settings
from base.exit_status import ExitStatus
from cli.database.runtime import load_settings


def settings(**more: object) -> Settings:
    """Return settings that are valid but for those given."""
    required = {"rpc_token": SecretStr("t" * 16), "token_secret": SecretStr("s" * 32)}
    return Settings.model_validate(required | more)


@pytest.mark.parametrize("name", ["a b", "a b/c\n", "acme\n", "a/c", "a" * 65, "æ"])
def test_the_account_has_a_name_as_others_have(name: str) -> None:
    """One that `account create` would reject is rejected."""
    with pytest.raises(ValidationError) as error:
        settings(account=name)
    (found,) = error.value.errors()
    assert (found["loc"], found["msg"].startswith("Value error, expected ")) == (("account",), True)


@pytest.mark.parametrize("name", ["", "acme", "acct_26-x", "a" * 64])
def test_valid_accounts(name: str) -> None:
    """A name, or none: then no account is created at start."""
    assert settings(account=name).account == name


def test_a_file_of_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment comes first."""
    file = tmp_path / "switchroom.toml"
    file.write_text('api_host = "192.0.2.1"\napi_port = 1\nrpc_token = "tttttttttttttttt"\n')
    monkeypatch.chdir(tmp_path)  # without a lab's .env
    monkeypatch.setenv("SWITCHROOM_CONFIG", str(file))
    monkeypatch.setenv("SWITCHROOM_API_PORT", "2")
    monkeypatch.setenv("SWITCHROOM_TOKEN_SECRET", "s" * 32)
    found = load_settings(Settings)
    assert (found.api_host, found.api_port) == ("192.0.2.1", 2)


def test_the_error_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of the REST layer end with one line for each error."""
    monkeypatch.setenv("SWITCHROOM_RPC_TOKEN", "t" * 16)
    monkeypatch.setenv("SWITCHROOM_TOKEN_SECRET", "s" * 32)
    monkeypatch.setenv("SWITCHROOM_ACCOUNT", "a b/c")
    with pytest.raises(SystemExit) as ended:
        load_settings(Settings)
    assert ended.value.code == ExitStatus.NOT_DONE
    said = capsys.readouterr().err
    assert "SWITCHROOM_ACCOUNT: expected " in said
    assert said.endswith("invalid_settings: `switchroom error show invalid_settings` explains it\n")
