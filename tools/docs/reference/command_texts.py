"""What the pages of commands say beside the docstrings, by noun."""

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    "call": "`call FILE` is the same as `call create FILE`. With `--output json`, the standard"
    " output of `create` has the ended call only. `list --ended N` has the calls that ended within"
    " the last hour (`SWITCHROOM_STREAM_KEPT_S`).",
    "transfer": "The transfer is attended unless `--blind` is given: `complete` removes the"
    " transferring party, `cancel` returns the customer. [Sessions](../../sessions.md) describes"
    " which parties hear each other.",
    "conference": "[Sessions](../../sessions.md) describes conferences and coaching.",
    "stream": "A stream that was lost and resumed has another id: list the streams again."
    " [Streams of a live call](../../streams/live-calls.md) describes what a bot hears.",
    "recording": "`start`, `pause`, `resume` and `stop` record a live call; the others are about"
    " archived files: [recordings](../../recordings.md).",
    "route": "A route is JSON, a webhook's URL, or `flow:ID`. `--fallback` is the verb that runs"
    " if its webhook or flow fails; with `--no-answer` the call rings until its tree needs media.",
    "flow": "`put --no-publish` keeps a draft; `publish` of an earlier version rolls a flow back:"
    " [flows](../../flows.md).",
    "webhook": "`retry` exits with 1 if the request failed again:"
    " [webhook log](../../webhook-log.md).",
    "callback": "`test` exits with 1 if the target did not accept the event:"
    " [status callbacks](../../callbacks.md).",
    "cdr": "The filters are those of the REST layer: [records](../../cdrs.md).",
    "profile": "How commands choose a server and a key:"
    " [servers and keys](../commands.md#servers-and-keys).",
    "asset": "The files that the installation brings for operators: the configuration of a PBX node"
    " (`asterisk-config`), alert rules, the dashboard. A file that exists and differs is replaced"
    " only with `--force`. It needs no server.",
    "listen": "The guide: [webhooks in development](../../webhooks-in-development.md).",
    "new": "Samples: `ivr`, `voicemail`, `click-to-call`, `survey`, `after-hours`:"
    " [the SDKs](../../sdk/python.md#samples).",
    "backup": "The guide: [backups](../../operations/runbook.md#backups).",
    "restore": "The guide: [backups](../../operations/runbook.md#backups).",
    "convert": "On standard error it prints, with its line, what is different or has no"
    " counterpart: [from Twilio](../../migration/from-twilio.md). It needs no server.",
    "doctor": "Each warning and failure has an [error code](../errors.md), whose page leads"
    " to a part of [troubleshooting](../../troubleshooting.md).",
    "error": "The same as [error codes](../errors.md), where the docs are not at hand. It"
    " needs no server.",
}
