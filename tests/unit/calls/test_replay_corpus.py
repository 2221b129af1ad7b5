"""The core makes of the calls in the corpus what it made of them when they were recorded.

A call that runs while its engine is updated is continued by the new core. An intended change of
the core is recorded by `python -m tools.replay_corpus`.
"""

from functools import cache

import pytest

from tests.harness.calls.replay_corpus import CorpusCall, differences, read
from wire.base import tag_of

PARTS = 10
corpus = cache(read)


@pytest.mark.parametrize("part", range(PARTS))
def test_calls_of_the_corpus_take_the_same_steps(part: int) -> None:
    """Each step has the same state and the same commands."""
    found = [
        f"{call.call_id}, step {number}: {tag_of(step.event)} -> {tag_of(step.call.state)}"
        for call in corpus()[part::PARTS]
        for number, step in differences(call)
    ]
    assert not found, f"{len(found)} steps differ; the first ones: {found[:5]}"


def test_another_core_is_noticed() -> None:
    """The checksums have the state and the commands of each step."""
    call = corpus()[0]
    changed = CorpusCall(call.call_id, call.log, (0, *call.checksums[1:]))
    assert [number for number, _ in differences(changed)] == [0]
