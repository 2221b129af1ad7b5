"""Settings of audio and recordings."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, HttpUrl, StringConstraints

RecordingsUrl = Annotated[str, StringConstraints(pattern=r"^(file:///|s3://[^/]+)")]


def _default_workers() -> int:
    return max(2, min(8, os.cpu_count() or 1))  # two at least: no account may use all of them


class MediaSettings(BaseModel):
    """Audio and recordings."""

    media_dir: Path = Field(
        Path("/var/lib/switchroom/media"), description="Folder of the engine's cache of audio."
    )
    media_url: HttpUrl | None = Field(
        None,
        description=(
            "Where PBX nodes fetch audio: one URL for all engines, such as"
            " `http://audio.internal:8070`, whose name has the addresses of all engines, or a load"
            " balancer before them. A PBX caches a prompt by its URL, so that with one URL it keeps"
            " one copy, which stays when another engine takes over. Any engine has the audio of the"
            " others. Default: `SWITCHROOM_RPC_URL`."
        ),
    )
    media_workers: int = Field(
        default_factory=_default_workers,
        ge=2,
        le=64,
        description=(
            "Processes that speak texts, and as many that transcode small and large audio files:"
            " the number of CPUs, 2 to 8, by default. One account uses all but one of them at most,"
            " and what calls wait for goes before what is prefetched. Each needs about 200 MB for"
            " speech."
        ),
    )
    media_allow: tuple[str, ...] = Field(
        (), description="JSON list of private networks that audio may be fetched from."
    )
    recordings_url: RecordingsUrl = Field(
        "file:///var/lib/switchroom/recordings",
        description="Where recordings are stored: `file:///…` or `s3://bucket/prefix`.",
    )
    recordings_s3: dict[str, str] = Field(
        {},
        description=(
            'JSON for S3: `{"endpoint": …, "region": …, "access_key_id": …, "secret_access_key":'
            " …}`."
        ),
    )
    recordings_public_url: str = Field(
        "", description="Base of the URLs of recordings that customers get, if it differs."
    )
    recordings_s: float = Field(
        30, gt=0, description="Seconds between searches for recordings left on a node."
    )
