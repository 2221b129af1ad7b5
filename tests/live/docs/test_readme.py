"""Every block of the README that needs no machine of its own runs in order."""

import json
import re
from pathlib import Path

from dev.lab.servers import LabPhone
from tests.harness.live_lab import Lab
from tests.harness.phones.heard_file import heard_ms
from tests.harness.servers.api import Api
from tests.harness.servers.engine import RequestError
from tests.harness.tutorial import ROOT, Reader, blocks_of
from tests.harness.until import until

ACCOUNT, NUMBER = "readme", "+15550005"  # of no other test
EXAMPLES = "docs/examples"
MIN_TEXT_MS = 800  # at any speed of speech


async def test_the_readme_can_be_followed(lab: Lab, tmp_path: Path) -> None:
    """Calls in both directions are heard; one over REST is shown, hung up, and has its record."""
    folder = tmp_path / "api"
    async with (
        Api(folder, engines=[lab.engine], account=ACCOUNT, number=NUMBER) as api,
        LabPhone(tmp_path / "phone", lab.trunk_port),
    ):
        write_env(tmp_path / ".env", lab, api)
        write_examples(tmp_path / EXAMPLES)
        replaced = {
            "http://127.0.0.1:8000": api.url,
            "+4721930000": NUMBER,
        }
        reader = Reader(tmp_path, replaced, {})
        place, receive, over_rest = [
            each.text
            for each in blocks_of(ROOT / "README.md")
            if each.language == "sh" and not each.title
        ]
        assert "Your parcel arrives" in await reader.run(place)
        await reader.run(receive)
        assert heard_ms(tmp_path / "call.wav") >= MIN_TEXT_MS
        printed = await reader.run(over_rest)
        call = re.search(r'"callId":"([^"]+)"', printed)
        assert call is not None, printed
        await until_recorded(api, call[1])


def write_env(path: Path, lab: Lab, api: Api) -> None:
    """Write what a lab writes, as far as the README needs it."""
    nodes = json.dumps([{"name": "pbx1", "sip_port": lab.pbx.sip_port}])
    path.write_text(
        f"SWITCHROOM_API_URL='{api.url}'\n"
        f"SWITCHROOM_NODES='{nodes}'\n"
        f"SWITCHROOM_API_KEY='{api.api_key}'\n"
        f"SWITCHROOM_ACCOUNT='{ACCOUNT}'\n"
    )


def write_examples(folder: Path) -> None:
    """Write the files of a clone, with the number of this test."""
    folder.mkdir(parents=True)
    for path in (ROOT / EXAMPLES).glob("*.json"):
        text = path.read_text().replace("+4721930000", NUMBER)
        (folder / path.name).write_text(text)


async def until_recorded(api: Api, call: str) -> None:
    """Wait for the record of a call that was answered, and hung up over REST."""

    async def has_record() -> bool:
        try:
            record = await api.request("GET", f"/srmain/cdr/{call}", token=api.api_key)
        except RequestError:
            return False
        return (record["endedBy"], record["answerStatus"]) == ("api", "answered")

    await until(has_record, what="the record of the call")
