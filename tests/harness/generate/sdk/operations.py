"""The REST operations that the SDKs have, by resource and method.

The others have no method, for the reasons in `WITHOUT_METHOD`; `request` sends them, too.
"""

from typing import NamedTuple

VOICE = "/srmain/voice"


class Named(NamedTuple):
    """An operation's name in the SDKs, such as `calls.create`, with its method and path."""

    name: str
    method: str
    path: str
    is_document: bool = False  # its body is one value, not an argument for each field


OPERATIONS = (
    Named("calls.create", "POST", f"{VOICE}/call"),
    Named("calls.list", "GET", f"{VOICE}/calls"),
    Named("calls.get", "GET", f"{VOICE}/call-details/{{callId}}"),
    Named("calls.dial", "POST", f"{VOICE}/dial"),
    Named("calls.hangup", "POST", f"{VOICE}/call/{{callId}}/hangup"),
    Named("calls.mute", "POST", f"{VOICE}/call/{{callId}}/mute"),
    Named("calls.unmute", "POST", f"{VOICE}/call/{{callId}}/unmute"),
    Named("calls.hold", "POST", f"{VOICE}/call/{{callId}}/hold"),
    Named("calls.unhold", "POST", f"{VOICE}/call/{{callId}}/unhold"),
    Named("calls.timeline", "GET", f"{VOICE}/call/{{callId}}/timeline"),
    Named("calls.replay", "GET", f"{VOICE}/call/{{callId}}/replay"),
    Named("calls.start_recording", "POST", f"{VOICE}/call/{{callId}}/recording/start"),
    Named("calls.pause_recording", "POST", f"{VOICE}/call/{{callId}}/recording/pause"),
    Named("calls.resume_recording", "POST", f"{VOICE}/call/{{callId}}/recording/resume"),
    Named("calls.stop_recording", "POST", f"{VOICE}/call/{{callId}}/recording/stop"),
    Named("transfers.start", "POST", f"{VOICE}/call/{{callId}}/transfer/init"),
    Named("transfers.complete", "POST", f"{VOICE}/transfer/complete"),
    Named("transfers.cancel", "POST", f"{VOICE}/transfer/cancel"),
    Named("transfers.get", "POST", f"{VOICE}/transfer/status"),
    Named("conferences.add", "POST", f"{VOICE}/conference/add-members"),
    Named("conferences.kick", "POST", f"{VOICE}/conference/kick"),
    Named("conferences.leave", "POST", f"{VOICE}/conference/leave"),
    Named("conferences.members", "POST", f"{VOICE}/conference/members"),
    Named("conferences.mine", "GET", f"{VOICE}/conference/my"),
    Named("conferences.coach", "POST", f"{VOICE}/conference/coach"),
    Named("numbers.list", "GET", f"{VOICE}/numbers"),
    Named("numbers.get", "GET", f"{VOICE}/numbers/{{number}}"),
    Named("numbers.route", "GET", f"{VOICE}/numbers/{{number}}/route"),
    Named("numbers.set_route", "PUT", f"{VOICE}/numbers/{{number}}/route"),
    Named("numbers.delete_route", "DELETE", f"{VOICE}/numbers/{{number}}/route"),
    Named("flows.list", "GET", f"{VOICE}/flows"),
    Named("flows.get", "GET", f"{VOICE}/flows/{{flowId}}"),
    Named("flows.put", "PUT", f"{VOICE}/flows/{{flowId}}", is_document=True),
    Named("flows.delete", "DELETE", f"{VOICE}/flows/{{flowId}}"),
    Named("flows.check", "POST", f"{VOICE}/flows/{{flowId}}/check", is_document=True),
    Named("flows.versions", "GET", f"{VOICE}/flows/{{flowId}}/versions"),
    Named("flows.version", "GET", f"{VOICE}/flows/{{flowId}}/versions/{{number}}"),
    Named("flows.diff", "GET", f"{VOICE}/flows/{{flowId}}/diff"),
    Named("flows.publish", "POST", f"{VOICE}/flows/{{flowId}}/publish"),
    Named("requests.list", "GET", f"{VOICE}/requests"),
    Named("requests.get", "GET", f"{VOICE}/requests/{{id}}"),
    Named("requests.put", "PUT", f"{VOICE}/requests/{{id}}", is_document=True),
    Named("requests.delete", "DELETE", f"{VOICE}/requests/{{id}}"),
    Named("agents.list", "GET", f"{VOICE}/agents"),
    Named("agents.get", "GET", f"{VOICE}/agents/{{agentId}}"),
    Named("agents.put", "PUT", f"{VOICE}/agents/{{agentId}}"),
    Named("agents.delete", "DELETE", f"{VOICE}/agents/{{agentId}}"),
    Named("agents.presence", "GET", f"{VOICE}/agents/{{agentId}}/presence"),
    Named("agents.set_password", "PUT", f"{VOICE}/agents/{{agentId}}/password"),
    Named(
        "agents.create_phone_credentials",
        "POST",
        f"{VOICE}/agents/{{agentId}}/phone-credentials",
    ),
    Named("callbacks.get", "GET", f"{VOICE}/callbacks"),
    Named("callbacks.put", "PUT", f"{VOICE}/callbacks"),
    Named("callbacks.delete", "DELETE", f"{VOICE}/callbacks"),
    Named("callbacks.rotate", "POST", f"{VOICE}/callbacks/rotate"),
    Named("callbacks.test", "POST", f"{VOICE}/callbacks/test"),
    Named("callbacks.dead_letters", "GET", f"{VOICE}/callbacks/dead-letters"),
    Named("callbacks.resend", "POST", f"{VOICE}/callbacks/resend"),
    Named("webhooks.list", "GET", f"{VOICE}/webhooks"),
    Named("webhooks.get", "GET", f"{VOICE}/webhooks/{{id}}"),
    Named("webhooks.retry", "POST", f"{VOICE}/webhooks/{{id}}/retry"),
    Named("records.list", "GET", "/srmain/cdr"),
    Named("records.get", "GET", "/srmain/cdr/{id}"),
    Named("records.set_disposition", "PATCH", "/srmain/cdr/{id}/disposition"),
    Named("records.customer_history", "GET", "/srmain/cdr/customer-history"),
    Named("records.today", "GET", "/srmain/cdr/me/today-stats"),
    Named("records.start_export", "POST", "/srmain/cdr/export"),
    Named("records.export", "GET", "/srmain/cdr/exports/{exportId}"),
    Named("recordings.list", "GET", "/srmain/recordings"),
    Named("recordings.delete", "DELETE", "/srmain/recordings/files/{accountId}/{day}/{file}"),
    Named("audit.list", "GET", "/srmain/audit"),
    Named("caller.get", "GET", "/auth/me"),
    Named("operations.nodes", "GET", "/srmain/operations/nodes"),
    Named("operations.drain", "POST", "/srmain/operations/nodes/{node}/drain"),
    Named("operations.undrain", "POST", "/srmain/operations/nodes/{node}/undrain"),
    Named("operations.engines", "GET", "/srmain/operations/engines"),
    Named("operations.shards", "GET", "/srmain/operations/shards"),
    Named("operations.store", "GET", "/srmain/operations/store"),
    Named("operations.media", "GET", "/srmain/operations/media"),
    Named("operations.alerts", "GET", "/srmain/operations/alerts"),
    Named("operations.doctor", "GET", "/srmain/operations/doctor"),
    Named("keys.list", "GET", "/srmain/keys"),
    Named("keys.create", "POST", "/srmain/keys"),
    Named("keys.rotate", "POST", "/srmain/keys/{id}/rotate"),
    Named("keys.revoke", "DELETE", "/srmain/keys/{id}"),
    Named("account.get", "GET", "/srmain/account"),
    Named("account.update", "PATCH", "/srmain/account"),
    Named("account.usage", "GET", "/srmain/account/usage"),
    Named("jobs.list", "GET", "/srmain/jobs"),
    Named("jobs.get", "GET", "/srmain/jobs/{id}"),
    Named("jobs.cancel", "POST", "/srmain/jobs/{id}/cancel"),
)

# By a pattern of `METHOD path`.
WITHOUT_METHOD = {
    r"\w+ /voice/.*": "a second path of an operation",
    r"POST /srmain/voice/(mute|unmute|hold|unhold|hangup|transfer/init)": "the same, by its body",
    r"\w+ /srmain/voice/active-call-details": "the same as call-details",
    r"POST /auth/get-access-token/.*": "the clients get tokens themselves",
    r"GET .*/events": "a stream",
    r"GET .*/(download|files/.*)": "a file: `recordings.download` is not generated",
    r"GET /media/recordings/.*": "a file, by its signed address",
    r"\w+ /srmain/voice/listeners.*": "of `switchroom listen`",
    r"GET /srmain/cdr/\{prefix\}/getClientIds": "of a console",
    r"\w+ /srmain/contacts_list/.*": "contacts",
    r"\w+ /srmain/dnc.*": "the do-not-call list, with tokens of its own",
    r"\w+ /srmain/msgapp.*": "the messaging platform",
}
