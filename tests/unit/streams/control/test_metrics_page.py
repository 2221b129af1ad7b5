"""The /metrics page of a gateway."""

import platform
from importlib.metadata import version

from streams.control.metrics_page import metrics_page
from streams.stream.metrics import StreamMetrics

VERSION, PYTHON = version("switchroom"), platform.python_version()


def test_it_has_streams_engines_and_the_process() -> None:
    """Counters that alerts need are there from the start."""
    lines = metrics_page(StreamMetrics(), 3, 2).decode().splitlines()
    assert {
        "switchroom_streams 3.0",
        "switchroom_streams_engines 2.0",
        'switchroom_streams_ended_total{reason="bot-lost"} 0.0',
        'switchroom_stream_utterances_total{result="not-understood"} 0.0',
    } <= {*lines}
    (build,) = [line for line in lines if line.startswith("switchroom_streams_build_info{")]
    assert build == f'switchroom_streams_build_info{{version="{VERSION}",python="{PYTHON}"}} 1.0'
    words = "process_open_fds ", "python_gc_collections_total"
    assert all(any(line.startswith(word) for line in lines) for word in words)
