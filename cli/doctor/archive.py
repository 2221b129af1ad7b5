"""Check of the recording archive: stores a small file."""

import asyncio
import io
from collections.abc import Mapping

from cli.doctor.result import Finding, failure, ok
from engine.recordings import ArchiveError, open_archive

TEST_FILE = "switchroom-doctor"  # remains: an archive may not allow deletion
TIMEOUT_S = 15.0


async def check_archive(url: str, s3: Mapping[str, str]) -> Finding:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            archive = await asyncio.to_thread(open_archive, url, s3)
            await archive.put(TEST_FILE, io.BytesIO(b"This archive can be written.\n"))
    except (ArchiveError, OSError, ValueError) as error:
        text = " ".join(str(error).split()) or "no response"
        advice = "SWITCHROOM_RECORDINGS_URL and _RECORDINGS_S3 (docs/recordings.md)"
        return failure("archive_unwritable", "archive", f"{url}: {text[:200]}", advice)
    return ok("archive", f"{url} accepts recordings (and now has a file {TEST_FILE})")
