"""Samples of the SDK as applications, for requests that no page sends."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from starlette.testclient import TestClient

from cli.new import create_project

ODD_IDS = ("%2E%2E", "%2E")  # a client of the SDK sends no request with them


@pytest.fixture
def application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Literal["fastapi", "flask"]], Any]:
    """Return what creates the sample in a folder, and imports its application."""
    monkeypatch.setenv("SWITCHROOM_API_KEY", "k" * 32)

    def create(framework: Literal["fastapi", "flask"]) -> Any:
        create_project("click-to-call", framework, tmp_path / framework)
        spec = importlib.util.spec_from_file_location(
            f"sample_{framework}", tmp_path / framework / "app.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module.app

    return create


@pytest.mark.parametrize("call_id", ODD_IDS)
def test_an_odd_id_is_no_call_with_fastapi(
    application: Callable[[Literal["fastapi"]], Any], call_id: str
) -> None:
    """It is 404, like that of a call that does not exist; not a fault of the sample."""
    found = TestClient(application("fastapi")).get(f"/calls/{call_id}")
    assert (found.status_code, found.json()) == (404, {"detail": "no such call"})


@pytest.mark.parametrize("call_id", ODD_IDS)
def test_an_odd_id_is_no_call_with_flask(
    application: Callable[[Literal["flask"]], Any], call_id: str
) -> None:
    """It is 404, too."""
    found = application("flask").test_client().get(f"/calls/{call_id}")
    assert (found.status_code, found.get_json()) == (404, {"detail": "no such call"})
