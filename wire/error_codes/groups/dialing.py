"""Codes about the parties that an account may call, from which number, and how much."""

from wire.error_codes.error_code import CodeGroup, ErrorCode, Place

_DIAL = (
    Place.REST,
    Place.RPC,
    Place.FIELD,
    Place.RECORD,
)

DIALING = CodeGroup(
    "Dial policy and limits",
    (
        ErrorCode(
            "not_allowed",
            "Number not allowed",
            "The account may not call this number.",
            "An account calls its agents only, until prefixes are allowed for it.",
            "Operator: `switchroom account set ACCOUNT --allow +47`.",
            (400,),
            _DIAL,
            "troubleshooting.md#400-not_allowed",
        ),
        ErrorCode(
            "number_without_country",
            "Number without a country code",
            "It is not certain of which country a number is, so it is not called.",
            "A number has no plus sign and no `00`, and is no number of the account's region, or "
            "may be one of another country: a carrier may call that by the same digits.",
            "Write it with a plus sign and its country code, such as +4721930000. Operator: "
            "`switchroom account region ACCOUNT NO` sets the country of numbers without a code.",
            (400,),
            _DIAL,
            "dnc.md#checks",
        ),
        ErrorCode(
            "number_type",
            "Type of number not allowed",
            "The account may not call numbers of this type.",
            "Costly types, such as premium numbers and satellites, need a permission of their own.",
            "Operator: `switchroom account set ACCOUNT --allow-type TYPE`.",
            (400,),
            _DIAL,
            "dnc.md#checks",
        ),
        ErrorCode(
            "do_not_call",
            "On the do-not-call list",
            "The number is on the do-not-call list of the account.",
            "It was added by the account, or by a person's request.",
            "Do not call it. `switchroom dnc` shows and changes the list.",
            (400,),
            _DIAL,
            "dnc.md#the-do-not-call-list",
        ),
        ErrorCode(
            "sip_host",
            "SIP host not allowed",
            "A `sip:` address has a host that may not be called.",
            "Only hosts of `SWITCHROOM_SIP_HOSTS` may be called, as each call may cost money.",
            "Operator: add the host.",
            (400,),
            _DIAL,
        ),
        ErrorCode(
            "not_your_number",
            "Not your number",
            "The caller id is not a number of the account.",
            "A number that was not added to the account, or a spelling without the country code.",
            "`switchroom account set ACCOUNT --caller-id NUMBER` adds one; `detail` has "
            "the spelling.",
            (400,),
            (
                Place.REST,
                Place.RPC,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "impossible_number",
            "Impossible number",
            "The text cannot be a phone number.",
            "Too many or too few digits for its country, or no country code.",
            "Write it with its country code, such as +4721930000.",
            (400,),
            (
                Place.REST,
                Place.FIELD,
            ),
        ),
        ErrorCode(
            "account_stopped",
            "Account stopped",
            "The account makes and gets no calls.",
            "The operator stopped it.",
            "Operator: `switchroom account start ACCOUNT`.",
            (503,),
            (
                Place.REST,
                Place.RPC,
                Place.RECORD,
                Place.METRIC,
            ),
        ),
        ErrorCode(
            "terms_unknown",
            "Dial policy not known",
            "The engine does not know yet which parties the account may call.",
            "The REST layer has not sent the policy, or the store was lost.",
            "It is sent within a minute. Operator: look at the log of the REST layer.",
            (503,),
            (
                Place.REST,
                Place.RPC,
                Place.RECORD,
            ),
            "operations/runbook.md#switchroomdialsrejected",
        ),
        ErrorCode(
            "live_calls",
            "Too many live calls",
            "The account has as many live calls as it may; an inbound caller gets 486 (busy).",
            "Calls that have not ended, inbound and outbound together.",
            "Wait as long as `Retry-After` says. Operator: `--max-calls`.",
            (429,),
            (
                Place.REST,
                Place.RPC,
                Place.METRIC,
            ),
        ),
        ErrorCode(
            "call_rate",
            "Too many calls per second",
            "The account starts or gets more calls a second than it may; inbound callers get 480.",
            "A campaign that is too fast, or a flood of calls to the account's numbers.",
            "Wait as long as `Retry-After` says. Operator: `--max-calls-per-s`.",
            (429,),
            (
                Place.REST,
                Place.METRIC,
            ),
        ),
        ErrorCode(
            "log_quota",
            "Calls have written too much",
            "The account's calls have written as much to the engines' store as they may; inbound "
            "callers get 480.",
            "Webhooks, bots or flows that let calls take steps without end, with large trees or "
            "responses.",
            "Answer webhooks with smaller trees. Operator: the calls with the longest logs show "
            "what happened; then `SWITCHROOM_LOG_MB_OF_CALL`, or `--max-calls`.",
            (429,),
            (
                Place.REST,
                Place.RPC,
                Place.METRIC,
            ),
        ),
        ErrorCode(
            "live_legs",
            "Too many live legs",
            "The account has as many dialed legs as it may.",
            "Legs of all calls count, those of webhooks and transfers too.",
            "Wait for legs to end. Operator: `--max-live-legs`.",
            (429,),
            (
                Place.REST,
                Place.RPC,
                Place.RECORD,
            ),
        ),
        ErrorCode(
            "leg_rate",
            "Too many legs per second",
            "The account dials more legs a second than it may.",
            "A tree or a campaign that dials many parties at once.",
            "Dial more slowly. Operator: `--max-legs-per-s`.",
            (429,),
            (
                Place.REST,
                Place.RPC,
                Place.RECORD,
            ),
        ),
        ErrorCode(
            "daily_minutes",
            "Minutes of the day used up",
            "The account has used its minutes of dialled legs of the day.",
            "The limit protects against toll fraud.",
            "Wait until tomorrow (UTC). Operator: `--max-minutes-per-day`.",
            (429,),
            (
                Place.REST,
                Place.RPC,
                Place.RECORD,
            ),
        ),
        ErrorCode(
            "legs_per_call",
            "Too many legs of a call",
            "A call has dialed as many legs as one call may.",
            "A tree or flow that dials in a loop.",
            "Correct the tree; a loop needs an end.",
            (),
            (
                Place.RECORD,
                Place.TIMELINE,
            ),
        ),
    ),
)
