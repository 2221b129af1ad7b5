"""The labels of a call over REST, by which its record is found."""

from typing import Any

import pytest

from api.voice.schemas import OriginateRequest
from api.voice.service import labels_of


@pytest.mark.parametrize(
    ("fields", "from_first", "labels"),
    [
        ({}, False, {"obdType": "direct"}),
        ({}, True, {"obdType": "click-to-call"}),
        ({"flow_id": "support"}, False, {"obdType": "direct", "callPath": "flow:support"}),
        ({"flow_id": "f", "custom_data": {"callPath": "ivr", "obdType": "progressive"}}, True, {}),
        ({"custom_data": {"clientId": "c-7", "obdType": 7}}, False, {"obdType": "direct"}),
    ],
)
def test_labels(fields: dict[str, Any], from_first: bool, labels: dict[str, str]) -> None:
    """Its form and its flow, unless customData has them as texts."""
    body = OriginateRequest(from_="+4721930000", to="+4722222222", **fields)
    assert labels_of(body, from_first=from_first) == labels
