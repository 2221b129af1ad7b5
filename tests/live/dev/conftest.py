"""Ports of the labs of `switchroom dev`."""

import pytest

FIRST = 8_200  # up to 9,799: above them is Asterisk's RTP of other tests
SIZE = 400
WORKERS = 4


@pytest.fixture
def port_base(worker_id: str) -> int:
    """Return the first port of a lab; each process of tests has ports of its own."""
    worker = int(worker_id.removeprefix("gw")) if worker_id.startswith("gw") else 0
    return FIRST + worker % WORKERS * SIZE
