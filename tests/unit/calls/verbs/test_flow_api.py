"""API requests of a flow: their results and failures."""

from engine.calls.model.call_states import AwaitingInstructions
from engine.calls.model.continuation import Frame
from engine.calls.model.events import Recovered
from engine.calls.model.io_commands import SendApiRequest
from engine.calls.model.io_results import (
    ApiRequestFailed,
    ApiRequestSucceeded,
    FlowNodeLoaded,
    FlowStarted,
)
from engine.calls.model.storage_format import StoredCall, decode_stored_call, encode
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.verbs.flow import API_TIMEOUT_MS
from tests.harness.calls.builders import ID, MAIN
from tests.harness.calls.flow_calls import LOOKUP_FLOW, spoken_text
from tests.harness.calls.flows import API, answer_request, load_nodes, pass_deadline, run_flow
from tests.harness.calls.recoveries import outbox
from wire.flow import VERB_NODES
from wire.verbs import Say, SayData


def test_an_api_request_succeeds() -> None:
    """It is sent by its id; its values become variables, and `success` follows."""
    story = run_flow(LOOKUP_FLOW)
    assert story.commands_of(SendApiRequest) == [SendApiRequest(f"{ID}.r3", API)]
    assert spoken_text(answer_request(story, LOOKUP_FLOW, name="Ada", tier=None)) == "Ada"
    assert story.call.variables == {"answers.lookup.name": "Ada", "answers.lookup.status": 200}


def test_an_api_request_that_fails() -> None:
    """`failure` follows, with the reason; the node's earlier values are removed."""
    story = run_flow(LOOKUP_FLOW)
    wanted = story.take(ApiRequestFailed(f"{ID}.r3", "status_404", 404))
    assert spoken_text(load_nodes(story, LOOKUP_FLOW, wanted)) == "status_404"
    assert story.call.variables == {
        "answers.lookup.status": 404,
        "answers.lookup.reason": "status_404",
    }


def test_an_api_request_times_out() -> None:
    """A timeout is a failure, too."""
    story = run_flow(LOOKUP_FLOW)
    assert story.state_as(AwaitingInstructions).deadline_ms == story.now + API_TIMEOUT_MS
    assert spoken_text(pass_deadline(story, LOOKUP_FLOW)) == "timeout"


def test_an_abandoned_api_request_is_not_repeated() -> None:
    """Recovery repeats only requests that the call still waits for."""
    story = run_flow(LOOKUP_FLOW)
    seen, box = PbxSnapshot({MAIN: "Up"}), outbox(story, SendApiRequest)
    assert reconcile(story.call, box, seen, story.now)[0] == box
    pass_deadline(story, LOOKUP_FLOW)
    assert reconcile(story.call, box, seen, story.now)[0] == ()


def test_values_that_exceed_the_limits() -> None:
    """They are a failure of the request, not of the call."""
    story = run_flow(LOOKUP_FLOW)
    assert spoken_text(answer_request(story, LOOKUP_FLOW, name="x" * 2_000)) == "too_many_variables"


def test_the_result_of_another_request_is_ignored() -> None:
    story = run_flow(LOOKUP_FLOW)
    before = story.call
    for event in (
        ApiRequestSucceeded("other", 200, {}),
        ApiRequestFailed("other", "x"),
        FlowStarted("other", "f", 1, "a"),
        FlowNodeLoaded("other", "a", VERB_NODES[Say](SayData("x"))),
    ):
        assert story.take(event) == ()
    assert story.call is before


def test_recovery_restarts_the_wait() -> None:
    """The outbox repeats the request with the same key; the deadline restarts."""
    story = run_flow(LOOKUP_FLOW)
    record = decode_stored_call(encode(StoredCall(story.call)))
    assert record.call == story.call
    assert record.call.continuation[0] == Frame(
        "support", 1, "lookup", (("success", "good"), ("failure", "bad"))
    )
    assert story.take(Recovered(), 16_000) == ()
    assert spoken_text(answer_request(story, LOOKUP_FLOW, name="Ada")) == "Ada"
