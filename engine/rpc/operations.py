"""What the RPC does, as a table: each operation with the shapes that it decodes and answers."""

from typing import Any

from msgspec import Struct

from wire import consumer_groups, control, replay, rpc
from wire.agents import Agent, Agents, AgentView
from wire.callbacks import CallbackView, DeadLetters, PutCallback, Resend, Resent
from wire.control import ConferenceView, TransferView
from wire.dial_policy import (
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)
from wire.flow import FlowDocument
from wire.request import ApiRequest, ApiRequests, ApiRequestView
from wire.views import CallRecordings, Calls, CallView, Timeline

_CALL = "/calls/{call}"
_TRANSFER = f"{_CALL}/transfers/{{session}}"
_RECORDING = f"{_CALL}/recording"
_CONFERENCE = f"{_CALL}/conference"
_AGENT = "/agents/{account}/{agent}"
_FLOW = "/flows/{account}/{flow}"
_REQUEST = "/requests/{account}/{request}"


class Operation(Struct, frozen=True):
    """One operation, its path below /rpc/v1."""

    method: str
    path: str
    summary: str
    request: Any = None
    response: Any = None
    status: int = 200


CALLS = (
    Operation("post", "/calls", "Start a call", rpc.Originate, rpc.Started, 201),
    Operation("get", "/calls", "List the live calls", None, Calls),
    Operation("get", _CALL, "Show a call", None, CallView),
    Operation("get", f"{_CALL}/timeline", "Tell a call's story", None, Timeline),
    Operation("get", f"{_CALL}/replay", "Audit a call's log", None, replay.Replay),
    Operation("get", "/calls/ended", "List the calls that ended last", None, replay.EndedCalls),
)
CONTROL = (
    Operation("post", f"{_CALL}/mute", "Mute a leg", control.MuteLeg, CallView),
    Operation("post", f"{_CALL}/unmute", "Unmute a leg", control.LegControl, CallView),
    Operation("post", f"{_CALL}/hold", "Put a leg on hold", control.LegControl, CallView),
    Operation("post", f"{_CALL}/unhold", "Take a leg off hold", control.LegControl, CallView),
    Operation("post", f"{_CALL}/dial", "Call a party in", control.DialInto, control.DialedLeg),
    Operation("post", f"{_CALL}/hangup", "End a call or a leg", control.HangupCall, CallView),
)
RECORDING = (
    Operation("post", f"{_RECORDING}/start", "Record a call", control.CallControl, CallRecordings),
    Operation("post", f"{_RECORDING}/pause", "Record silence", control.CallControl, CallRecordings),
    Operation("post", f"{_RECORDING}/resume", "Record on", control.CallControl, CallRecordings),
    Operation("post", f"{_RECORDING}/stop", "End a recording", control.CallControl, CallRecordings),
)
TRANSFERS = (
    Operation("post", f"{_CALL}/transfers", "Begin a transfer", control.InitTransfer, TransferView),
    Operation("get", _TRANSFER, "Show a transfer", None, TransferView),
    Operation(
        "post",
        f"{_TRANSFER}/complete",
        "Complete a transfer",
        control.CompleteTransfer,
        TransferView,
    ),
    Operation(
        "post", f"{_TRANSFER}/cancel", "Cancel a transfer", control.CancelTransfer, TransferView
    ),
)
CONFERENCES = (
    Operation(
        "post", f"{_CONFERENCE}/members", "Call a member in", control.AddMember, ConferenceView
    ),
    Operation(
        "get", f"{_CONFERENCE}/members", "Show the conference of a call", None, ConferenceView
    ),
    Operation(
        "post", f"{_CONFERENCE}/kick", "Put a member out", control.KickMember, ConferenceView
    ),
    Operation(
        "post",
        f"{_CONFERENCE}/leave",
        "Let a member leave",
        control.LeaveConference,
        ConferenceView,
    ),
    Operation("post", f"{_CONFERENCE}/coach", "Coach a member", control.Coach, ConferenceView),
    Operation(
        "get",
        f"{_AGENT}/conference",
        "Show the conference of an agent",
        None,
        ConferenceView,
    ),
)
AGENTS = (
    Operation("get", "/agents", "List the agents of an account", None, Agents),
    Operation("get", _AGENT, "Show an agent", None, AgentView),
    Operation("put", _AGENT, "Store an agent", Agent, AgentView),
    Operation("delete", _AGENT, "Take an agent away"),
)
FLOWS = (
    Operation("get", "/flows/{account}", "List the flows of an account", None, rpc.Flows),
    Operation("put", _FLOW, "Store a flow's next version", FlowDocument, rpc.FlowVersion),
    Operation("get", _FLOW, "Show a flow", None, FlowDocument),
    Operation("delete", _FLOW, "Take a flow away"),
    Operation("post", f"{_FLOW}/check", "Say what is wrong with a flow", FlowDocument),
    Operation("get", f"{_FLOW}/versions", "List a flow's versions", None, rpc.FlowVersions),
)
REQUESTS = (
    Operation("get", "/requests/{account}", "List API requests", None, ApiRequests),
    Operation("put", _REQUEST, "Store an API request", ApiRequest, ApiRequestView),
    Operation("get", _REQUEST, "Show an API request", None, ApiRequestView),
    Operation("delete", _REQUEST, "Take an API request away"),
)
DOCUMENTS = (
    Operation("get", "/routes", "List number routes"),
    Operation("put", "/routes/{number}", "Route a number", rpc.NumberRoute, rpc.NumberRoute),
    Operation("delete", "/routes/{number}", "Take a route away"),
)
EVENTS = (
    Operation(
        "get",
        "/events",
        "Follow call events (text/event-stream), or read them for a group",
        None,
        consumer_groups.EventBatch,
    ),
    Operation(
        "post",
        "/events/ack",
        "Acknowledge events",
        consumer_groups.AcknowledgeEvents,
        consumer_groups.Acknowledged,
    ),
    Operation(
        "get", "/events/groups", "List the groups of readers", None, consumer_groups.EventGroups
    ),
    Operation("delete", "/events/groups/{group}", "Forget a group"),
    Operation("get", "/events/schema", "Show the JSON Schema of an event"),
)
_CALLBACK = "/callbacks/{account}"
CALLBACKS = (
    Operation("put", _CALLBACK, "Say where calls are told", PutCallback, CallbackView),
    Operation("get", _CALLBACK, "Show where calls are told", None, CallbackView),
    Operation("delete", _CALLBACK, "Tell nobody any more"),
    Operation("post", f"{_CALLBACK}/rotate", "Make another secret", None, CallbackView),
    Operation("get", f"{_CALLBACK}/dead", "List what was given up", None, DeadLetters),
    Operation("post", f"{_CALLBACK}/resend", "Send it again", Resend, Resent),
)
_TERMS = "/terms/{account}"
TERMS = (
    Operation(
        "get", "/terms", "List which versions of their terms accounts have", None, DialPolicies
    ),
    Operation("put", _TERMS, "Say what an account may dial", AccountDialPolicy, DialPolicyView),
    Operation("get", _TERMS, "Show what an account may dial", None, AccountDialPolicy),
    Operation("patch", f"{_TERMS}/dnc", "Change its do-not-call list", DncListChange, DncListState),
    Operation("delete", f"{_TERMS}/dnc", "Forget its do-not-call list, to put it anew"),
)
OTHERS = (
    Operation("get", "/schemas/{name}", "Show the JSON Schema of a document"),
    Operation("get", "/nodes", "List the PBX nodes", None, rpc.Nodes),
    Operation("post", "/nodes/{node}/drain", "Give a node no new call", None, rpc.NodeView),
    Operation("post", "/nodes/{node}/undrain", "Give it new calls again", None, rpc.NodeView),
)
OPERATIONS = (
    *CALLS,
    *CONTROL,
    *RECORDING,
    *TRANSFERS,
    *CONFERENCES,
    *AGENTS,
    *FLOWS,
    *REQUESTS,
    *DOCUMENTS,
    *EVENTS,
    *CALLBACKS,
    *TERMS,
    *OTHERS,
)
