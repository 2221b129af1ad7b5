"""Codes of stored documents: agents, numbers, quotas."""

from wire.error_codes.error_code import CodeGroup, ErrorCode, Place

_DOC = (
    Place.REST,
    Place.RPC,
)

DOCUMENTS = CodeGroup(
    "Agents, numbers and quotas",
    (
        ErrorCode(
            "endpoint_taken",
            "Phone belongs to another agent",
            "The endpoint is the phone of another agent, or of another account.",
            "Two agents with the same endpoint.",
            "Choose another endpoint.",
            (409,),
            _DOC,
        ),
        ErrorCode(
            "endpoint_not_granted",
            "Endpoint is not the account's",
            "The endpoint is neither named after the account nor granted to it.",
            "An endpoint has the account's name before its last hyphen, and a letter.",
            "Use `PJSIP/acme-ada`. Operator: `switchroom account endpoint add`.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "configured_endpoint",
            "Endpoint is in the PBX's configuration",
            "The endpoint is in the configuration of a PBX: it is the operator's, and keeps its"
            " password there.",
            "An account wants it for an agent, or a password was to be set for it.",
            "Use an endpoint that no PBX has in its files, such as `PJSIP/acme-ada`. Operator:"
            " `switchroom account endpoint add`.",
            (400,),
            (
                Place.REST,
                Place.RPC,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "not_a_browser",
            "Phone is no browser",
            "The agent's phone is a SIP phone, so there are no credentials for a browser.",
            "`phone` of the agent is `sip`, its default.",
            "Set `phone` of the agent to `browser`; its password is deleted by that.",
            (409,),
            (Place.REST,),
        ),
        ErrorCode(
            "no_phone_urls",
            "No phones in browsers",
            "The server has no PBX nodes at which phones in browsers could log in.",
            "`SWITCHROOM_API_PHONE_NODES` is not set.",
            "Operator: set it to the HTTP servers of the PBX nodes, and `SWITCHROOM_API_PHONE_URL`"
            " to the REST layer as browsers reach it.",
            (503,),
            (Place.REST,),
            "how-to/browser-phone.md",
        ),
        ErrorCode(
            "phone_not_ready",
            "Phone not known to a node yet",
            "No PBX node accepts the credentials of the phone yet.",
            "No node is connected, or none has `browser-template` in `pjsip.conf`.",
            "Repeat the request. Operator: `switchroom doctor` says what is missing.",
            (503,),
            (Place.REST,),
            "how-to/browser-phone.md",
        ),
        ErrorCode(
            "quota",
            "Quota reached",
            "The account has as much of this as it may.",
            "Rows of a kind, such as lists, contacts, documents, do-not-call entries or idempotency"
            " keys, or bytes of files: `detail` has the limit and its setting.",
            "Delete some, or wait until they expire."
            " Operator: raise the limit that `detail` names.",
            (409,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "taken",
            "Name taken",
            "There is one of this name or id already.",
            "It was created before.",
            "Change the one that exists, or choose another name.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "duplicate",
            "Number in the list already",
            "The contact list has this number already.",
            "The contact was added before, or by an import.",
            "Change the contact that exists.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "unreadable_document",
            "Document not readable",
            "A document was encrypted with a secret that this process does not have.",
            "`SWITCHROOM_TOKEN_SECRET` was changed, or differs between processes.",
            "Operator: restore the secret, or name it as an earlier one.",
            (503,),
            (Place.REST,),
        ),
        ErrorCode(
            "unknown_number",
            "No such number",
            "The account has no number of this id of the messaging platform.",
            "It was not added.",
            "Add the number, or correct the id.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "inactive",
            "Number not active",
            "The number of the messaging platform is not active.",
            "`isActive` is false.",
            "Activate it, or use another number.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
    ),
)
