"""Requests for lists of call records."""

from typing import Any

from tests.harness.api.cdrs.records import leg
from tests.harness.api.serving import Served

REQUIRED = {
    "dialedNumber": "",
    "dispositionLevel1Id": "",
    "dispositionLevel2Id": "",
    "dispositionLevel3Id": "",
}
NINA = leg("agent:7", agent_id="7", agent_name="Nina")


async def list_cdrs(rest: Served, who: str = "acme", **query: object) -> dict[str, Any]:
    """Request a page."""
    status, page = await rest.request("GET", "/srmain/cdr", who, **{**REQUIRED, **query})
    assert status == 200, page
    return dict(page)
