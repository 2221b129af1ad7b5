"""The table of RPC operations: the server routes them, the OpenAPI document lists them."""

from typing import Any

from msgspec import Struct

from wire import consumer_groups, control, rpc, views
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
_CONFERENCE = f"{_CALL}/conference"
_AGENT = "/agents/{account}/{agent}"
_FLOW = "/flows/{account}/{flow}"
_REQUEST = "/requests/{account}/{request}"
_CALLBACK = "/callbacks/{account}"
_TERMS = "/terms/{account}"


class Operation(Struct, frozen=True):
    """One operation; the path is below /rpc/v1, `handler` names the method that serves it."""

    method: str
    path: str
    handler: str
    summary: str
    request: Any = None
    response: Any = None
    status: int = 200


CALLS = (
    Operation("post", "/calls", "originate", "Start a call", rpc.Originate, rpc.Started, 201),
    Operation("get", "/calls", "list", "List the live calls", None, Calls),
    Operation("get", _CALL, "get", "Show a call", None, CallView),
    Operation("get", f"{_CALL}/timeline", "timeline", "Show a call's timeline", None, Timeline),
)
AUDIT = (
    Operation("get", f"{_CALL}/replay", "replay", "Audit a call's log", None, views.Replay),
    Operation(
        "get", "/calls/ended", "ended", "List the latest ended calls", None, views.EndedCalls
    ),
)
CONTROL = (
    Operation("post", f"{_CALL}/mute", "mute", "Mute a leg", control.MuteLeg, CallView),
    Operation("post", f"{_CALL}/unmute", "unmute", "Unmute a leg", control.LegControl, CallView),
    Operation("post", f"{_CALL}/hold", "hold", "Put a leg on hold", control.LegControl, CallView),
    Operation(
        "post", f"{_CALL}/unhold", "unhold", "Take a leg off hold", control.LegControl, CallView
    ),
    Operation(
        "post", f"{_CALL}/dial", "dial", "Dial a party in", control.DialInto, control.DialedLeg
    ),
    Operation(
        "post", f"{_CALL}/hangup", "hangup", "Hang up a call or leg", control.HangupCall, CallView
    ),
)
RECORDING = tuple(
    Operation(
        "post", f"{_CALL}/recording/{action}", action, summary, control.CallControl, CallRecordings
    )
    for action, summary in (
        ("start", "Start recording a call"),
        ("pause", "Pause a recording (it continues with silence)"),
        ("resume", "Resume a recording"),
        ("stop", "Stop a recording"),
    )
)
TRANSFERS = (
    Operation(
        "post",
        f"{_CALL}/transfers",
        "start",
        "Start a transfer",
        control.InitTransfer,
        TransferView,
    ),
    Operation("get", _TRANSFER, "get", "Show a transfer", None, TransferView),
    Operation(
        "post",
        f"{_TRANSFER}/complete",
        "complete",
        "Complete a transfer",
        control.CompleteTransfer,
        TransferView,
    ),
    Operation(
        "post",
        f"{_TRANSFER}/cancel",
        "cancel",
        "Cancel a transfer",
        control.CancelTransfer,
        TransferView,
    ),
)
CONFERENCES = tuple(
    Operation(method, path, handler, summary, request, ConferenceView)
    for method, path, handler, summary, request in (
        ("post", f"{_CONFERENCE}/members", "add", "Dial a member in", control.AddMember),
        ("get", f"{_CONFERENCE}/members", "members", "Show the conference of a call", None),
        ("post", f"{_CONFERENCE}/kick", "kick", "Remove a member", control.KickMember),
        ("post", f"{_CONFERENCE}/leave", "leave", "Leave a conference", control.LeaveConference),
        ("post", f"{_CONFERENCE}/coach", "coach", "Coach a member", control.Coach),
        ("get", f"{_AGENT}/conference", "of_agent", "Show the conference of an agent", None),
    )
)
AGENTS = (
    Operation("get", "/agents", "list", "List the agents of an account", None, Agents),
    Operation("get", _AGENT, "get", "Show an agent", None, AgentView),
    Operation("put", _AGENT, "put", "Store an agent", Agent, AgentView),
    Operation("delete", _AGENT, "delete", "Delete an agent"),
)
FLOWS = (
    Operation("get", "/flows/{account}", "list", "List the flows of an account", None, rpc.Flows),
    Operation("put", _FLOW, "put", "Store a new version of a flow", FlowDocument, rpc.FlowVersion),
    Operation("get", _FLOW, "get", "Show a flow", None, FlowDocument),
    Operation("delete", _FLOW, "delete", "Delete a flow"),
    Operation("post", f"{_FLOW}/check", "check", "Validate a flow", FlowDocument),
    Operation(
        "get", f"{_FLOW}/versions", "versions", "List a flow's versions", None, rpc.FlowVersions
    ),
)
API_REQUESTS = (
    Operation("get", "/requests/{account}", "list", "List API requests", None, ApiRequests),
    Operation("put", _REQUEST, "put", "Store an API request", ApiRequest, ApiRequestView),
    Operation("get", _REQUEST, "get", "Show an API request", None, ApiRequestView),
    Operation("delete", _REQUEST, "delete", "Delete an API request"),
)
NUMBER_ROUTES = (
    Operation("get", "/routes", "list", "List number routes"),
    Operation("put", "/routes/{number}", "put", "Route a number", rpc.NumberRoute, rpc.NumberRoute),
    Operation("delete", "/routes/{number}", "delete", "Delete a number route"),
)
EVENTS = (
    Operation(
        "get",
        "/events",
        "read",
        "Stream call events (text/event-stream), or read a batch for a consumer group",
        None,
        consumer_groups.EventBatch,
    ),
    Operation("get", "/events/schema", "schema", "Show the JSON Schema of an event"),
)
CONSUMER_GROUPS = (
    Operation(
        "post",
        "/events/ack",
        "acknowledge",
        "Acknowledge events",
        consumer_groups.AcknowledgeEvents,
        consumer_groups.Acknowledged,
    ),
    Operation(
        "get",
        "/events/groups",
        "list",
        "List the consumer groups",
        None,
        consumer_groups.EventGroups,
    ),
    Operation("delete", "/events/groups/{group}", "delete", "Delete a consumer group"),
)
CALLBACKS = (
    Operation("put", _CALLBACK, "put", "Set the callback target", PutCallback, CallbackView),
    Operation("get", _CALLBACK, "get", "Show the callback target", None, CallbackView),
    Operation("delete", _CALLBACK, "delete", "Delete the callback target"),
    Operation(
        "post", f"{_CALLBACK}/rotate", "rotate", "Rotate the signing secret", None, CallbackView
    ),
)
DEAD_LETTERS = (
    Operation("get", f"{_CALLBACK}/dead", "list", "List dead letters", None, DeadLetters),
    Operation("post", f"{_CALLBACK}/resend", "resend", "Resend dead letters", Resend, Resent),
)
DIAL_POLICIES = (
    Operation("get", "/terms", "list", "List dial policy versions", None, DialPolicies),
    Operation("put", _TERMS, "put", "Store a dial policy", AccountDialPolicy, DialPolicyView),
    Operation("get", _TERMS, "get", "Show a dial policy", None, AccountDialPolicy),
    Operation(
        "patch",
        f"{_TERMS}/dnc",
        "change_list",
        "Change a do-not-call list",
        DncListChange,
        DncListState,
    ),
    Operation("delete", f"{_TERMS}/dnc", "delete_list", "Delete a do-not-call list"),
)
SCHEMAS = (
    Operation("get", "/schemas/{name}", "published_schema", "Show the JSON Schema of a document"),
)
NODES = (
    Operation("get", "/nodes", "list", "List the PBX nodes", None, rpc.Nodes),
    Operation(
        "post", "/nodes/{node}/drain", "drain", "Stop new calls to a node", None, rpc.NodeView
    ),
    Operation(
        "post", "/nodes/{node}/undrain", "undrain", "Allow new calls to a node", None, rpc.NodeView
    ),
)
OPERATIONS = (
    *CALLS,
    *AUDIT,
    *CONTROL,
    *RECORDING,
    *TRANSFERS,
    *CONFERENCES,
    *AGENTS,
    *FLOWS,
    *API_REQUESTS,
    *NUMBER_ROUTES,
    *EVENTS,
    *CONSUMER_GROUPS,
    *CALLBACKS,
    *DEAD_LETTERS,
    *DIAL_POLICIES,
    *SCHEMAS,
    *NODES,
)
