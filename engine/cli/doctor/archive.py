"""Where recordings go: whether it takes a file, by giving it one."""

import asyncio
import io
from collections.abc import Mapping

from engine.cli.doctor.result import Finding, failure, ok
from engine.recordings.archive import open_archive
from engine.recordings.errors import ArchiveError

PROOF = "switchroom-doctor"  # stays there: an archive need not let anything be deleted
LIMIT_S = 15.0


async def check_archive(url: str, s3: Mapping[str, str]) -> Finding:
    """Store a small file as the engine stores recordings."""
    try:
        async with asyncio.timeout(LIMIT_S):
            kept = await asyncio.to_thread(open_archive, url, s3)
            await kept.put(PROOF, io.BytesIO(b"This archive can be written.\n"))
    except (ArchiveError, OSError, ValueError) as error:
        text = " ".join(str(error).split()) or "no answer"
        advice = "SWITCHROOM_RECORDINGS_URL and _RECORDINGS_S3 (docs/recordings.md)"
        return failure("archive", f"{url}: {text[:200]}", advice)
    return ok("archive", f"{url} takes recordings (and now has a file {PROOF})")
