"""The table of RPC operations: the server routes them, the OpenAPI document lists them."""

from engine.rpc.operation import delete, get, patch, post, put
from wire import cluster, control, rpc, views
from wire.agents import (
    Agent,
    Agents,
    AgentView,
    DraftedPhone,
    LoginDraft,
    LoginNodes,
    PhoneDraft,
)
from wire.callbacks.account import (
    CallbackTestResult,
    CallbackView,
    DeadLetters,
    Resend,
    ResendResult,
)
from wire.callbacks.settings import CallbackChange, ChangedCallback
from wire.control import ConferenceView, TransferView
from wire.dial_policy import (
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)
from wire.documents.versioned import (
    AccountNames,
    DocumentChecksums,
    DocumentVersions,
    PatchDocuments,
    PatchedDocuments,
)
from wire.erasure import ErasedPrompts, EraseNumber, ErasePrompts, ErasureResult
from wire.events.consumer_groups import (
    AcknowledgeEvents,
    AcknowledgementResult,
    EventBatch,
    EventGroups,
)
from wire.flow import FlowDocument
from wire.listeners import Listener, ListenerRequests, ListenerResponse, Listeners, NewListener
from wire.request import ApiRequest
from wire.views import CallView
from wire.webhook_log import Attempts, AttemptView

_CALL = "/calls/{call}"
_TRANSFER = f"{_CALL}/transfers/{{session}}"
_CONFERENCE = f"{_CALL}/conference"
_STREAM = f"{_CALL}/streams/{{stream}}"
_RECORDING_FILE = "/recordings/{account}/{day}/{file}"
_AGENT = "/agents/{account}/{agent}"
_CALLBACK = "/callbacks/{account}"
_LISTENER = "/listeners/{account}/{listener}"
_ATTEMPT = "/webhooks/{account}/{attempt}"
_TERMS = "/terms/{account}"
_DNC = f"{_TERMS}/dnc"
_READ_EVENTS = "Stream call events (text/event-stream), or read a batch for a consumer group"


CALLS = (
    post("/calls", "originate", "Start a call", rpc.StartedCall, rpc.Originate, 201),
    get("/calls", "list", "List the live calls", views.Calls),
    get(_CALL, "get", "Show a call", CallView),
    get(f"{_CALL}/timeline", "timeline", "Show a call's timeline", views.Timeline),
)
AUDIT = (
    get(f"{_CALL}/replay", "replay", "Audit a call's log", views.Replay),
    get("/calls/ended", "ended", "List the latest ended calls", views.EndedCalls),
)
CONTROL = (
    post(f"{_CALL}/mute", "mute", "Mute a leg", CallView, control.MuteLeg),
    post(f"{_CALL}/unmute", "unmute", "Unmute a leg", CallView, control.LegControl),
    post(f"{_CALL}/hold", "hold", "Put a leg on hold", CallView, control.LegControl),
    post(f"{_CALL}/unhold", "unhold", "Take a leg off hold", CallView, control.LegControl),
    post(f"{_CALL}/dial", "dial", "Dial a party in", control.DialedLeg, control.DialInto),
    post(f"{_CALL}/hangup", "hangup", "Hang up a call or leg", CallView, control.HangupCall),
)
RECORDING = tuple(
    post(f"{_CALL}/recording/{action}", action, text, views.CallRecordings, control.CallControl)
    for action, text in (
        ("start", "Start recording a call"),
        ("pause", "Pause a recording (it continues with silence)"),
        ("resume", "Resume a recording"),
        ("stop", "Stop a recording"),
    )
)
STREAMS = (
    get(f"{_CALL}/streams", "list", "List the streams of a call", views.CallStreams),
    post(
        f"{_CALL}/streams",
        "start",
        "Let a bot listen to a call",
        views.CallStreams,
        control.StartStream,
    ),
    post(f"{_STREAM}/stop", "stop", "Stop a stream", views.CallStreams, control.CallControl),
    post(
        f"{_STREAM}/text",
        "send_text",
        "Send a text to the bot of a stream",
        views.CallStreams,
        control.SendStreamText,
    ),
)
RECORDING_FILES = (
    get(_RECORDING_FILE, "get", "Read an archived recording (audio/wav, with ranges)"),
    delete(_RECORDING_FILE, "delete", "Delete an archived recording"),
)
TRANSFERS = (
    post(f"{_CALL}/transfers", "start", "Start a transfer", TransferView, control.InitTransfer),
    get(_TRANSFER, "get", "Show a transfer", TransferView),
    *(
        post(f"{_TRANSFER}/{action}", action, summary, TransferView, request)
        for action, summary, request in (
            ("complete", "Complete a transfer", control.CompleteTransfer),
            ("cancel", "Cancel a transfer", control.CancelTransfer),
        )
    ),
)
CONFERENCES = (
    *(
        post(f"{_CONFERENCE}/{path}", action, summary, ConferenceView, request)
        for path, action, summary, request in (
            ("members", "add", "Dial a member in", control.AddMember),
            ("kick", "kick", "Remove a member", control.KickMember),
            ("leave", "leave", "Leave a conference", control.LeaveConference),
            ("coach", "coach", "Coach a member", control.Coach),
        )
    ),
    get(f"{_CONFERENCE}/members", "members", "Show the conference of a call", ConferenceView),
    get(f"{_AGENT}/conference", "of_agent", "Show the conference of an agent", ConferenceView),
)
AGENTS = (
    get("/agents", "list", "List the agents of an account", Agents),
    get(_AGENT, "get", "Show an agent", AgentView),
    post(f"{_AGENT}/check", "check", "Validate an agent", None, Agent),
    post(
        f"{_AGENT}/password/draft",
        "draft_password",
        "Validate a phone's password",
        DraftedPhone,
        PhoneDraft,
    ),
    post(
        f"{_AGENT}/phone-credentials/draft",
        "draft_login",
        "Validate a login of a phone in a browser",
        DraftedPhone,
        LoginDraft,
    ),
    get(
        f"{_AGENT}/phone-credentials",
        "login_nodes",
        "Show the nodes that accept a login of a phone",
        LoginNodes,
    ),
)
DOCUMENT_CHECKS = (
    post("/flows/{account}/{flow}/check", "flow", "Validate a flow", None, FlowDocument),
    post(
        "/requests/{account}/{request}/check",
        "api_request",
        "Validate an API request",
        None,
        ApiRequest,
    ),
    post("/routes/{number}/check", "route", "Validate a number route", None, rpc.NumberRoute),
)
EVENTS = (
    get("/events", "read", _READ_EVENTS, EventBatch),
    get("/events/schema", "schema", "Show the JSON Schema of an event"),
)
ENDED_CALLS = (
    get("/events/ended", "read", "Repeat the events of ended calls (application/x-ndjson)"),
)
CONSUMER_GROUPS = (
    post(
        "/events/ack", "acknowledge", "Acknowledge events", AcknowledgementResult, AcknowledgeEvents
    ),
    get("/events/groups", "list", "List the consumer groups", EventGroups),
    delete("/events/groups/{group}", "delete", "Delete a consumer group"),
)
CALLBACKS = (
    get(_CALLBACK, "get", "Show the callback target", CallbackView),
    post(f"{_CALLBACK}/draft", "draft", "Validate a change", ChangedCallback, CallbackChange),
    post(f"{_CALLBACK}/test", "test", "Send a test event", CallbackTestResult),
)
LISTENERS = (
    post("/listeners/{account}", "create", "Add a listener", Listener, NewListener, 201),
    get("/listeners/{account}", "list", "List the listeners of an account", Listeners),
    get(f"{_LISTENER}/requests", "requests", "Wait for requests", ListenerRequests),
    post(
        f"{_LISTENER}/responses/{{request}}", "respond", "Send a response", None, ListenerResponse
    ),
    delete(_LISTENER, "delete", "End a listener"),
)
DEAD_LETTERS = (
    get(f"{_CALLBACK}/dead", "list", "List dead letters", DeadLetters),
    post(f"{_CALLBACK}/resend", "resend", "Resend dead letters", ResendResult, Resend),
)
WEBHOOK_LOG = (
    get("/webhooks/{account}", "list", "List attempts to reach a customer's servers", Attempts),
    get(_ATTEMPT, "get", "Show an attempt", AttemptView),
    post(f"{_ATTEMPT}/retry", "retry", "Send a request again", AttemptView),
)
DIAL_POLICIES = (
    get("/terms", "list", "List dial policy versions", DialPolicies),
    put(_TERMS, "put", "Store a dial policy", DialPolicyView, AccountDialPolicy),
    get(_TERMS, "get", "Show a dial policy", AccountDialPolicy),
    patch(_DNC, "change_list", "Change a do-not-call list", DncListState, DncListChange),
    delete(_DNC, "delete_list", "Delete a do-not-call list"),
)
DOCUMENTS = (
    post("/document-checksums", "checksums", "Sum documents up", DocumentChecksums, AccountNames),
    patch("/documents", "patch", "Store newer documents", PatchedDocuments, PatchDocuments),
    get("/documents/{account}/{kind}", "versions", "List versions", DocumentVersions),
    get("/documents/{account}/{kind}/{id}", "get", "Show a document"),
)
SCHEMAS = (get("/schemas/{name}", "published_schema", "Show the JSON Schema of a document"),)
ERASURE = (
    post("/erasures", "erase", "Remove a number from ended calls", ErasureResult, EraseNumber),
)
NODES = (
    get("/nodes", "list", "List the PBX nodes", rpc.Nodes),
    post("/nodes/{node}/drain", "drain", "Stop new calls to a node", rpc.NodeView),
    post("/nodes/{node}/undrain", "undrain", "Allow new calls to a node", rpc.NodeView),
)
SLOTS = (
    get("/slots", "get", "Show the number of slots per node", rpc.Slots),
    put("/slots", "put", "Change the number of slots per node", rpc.Slots, rpc.PutSlots),
)
ENGINES = (get("/engines", "list", "List the engines with their shards", cluster.Engines),)
STORE = (get("/store", "get", "Show the state of the store", cluster.StoreView),)
DOCTOR = (get("/doctor", "report", "Check the installation", cluster.DoctorReport),)
PEERS = (
    post("/peers/digits", "digits", "Show heard digits", rpc.HeardDigits, rpc.GetDigits),
    get("/peers/phones", "phones", "Show phones of supervised nodes", rpc.PhoneReport),
    post(
        "/peers/prompt-erasures",
        "erase_prompts",
        "Remove a number from the audio cache",
        ErasedPrompts,
        ErasePrompts,
    ),
)
OPERATIONS = (
    *CALLS,
    *AUDIT,
    *CONTROL,
    *RECORDING,
    *STREAMS,
    *RECORDING_FILES,
    *TRANSFERS,
    *CONFERENCES,
    *AGENTS,
    *DOCUMENT_CHECKS,
    *EVENTS,
    *ENDED_CALLS,
    *CONSUMER_GROUPS,
    *CALLBACKS,
    *LISTENERS,
    *DEAD_LETTERS,
    *WEBHOOK_LOG,
    *DIAL_POLICIES,
    *DOCUMENTS,
    *SCHEMAS,
    *ERASURE,
    *NODES,
    *SLOTS,
    *ENGINES,
    *STORE,
    *DOCTOR,
    *PEERS,
)
