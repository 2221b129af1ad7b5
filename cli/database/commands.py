"""The commands of an administrator on accounts, by name: listing them needs no database."""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "create": ("account:create", "Create an account; without --allow it may call no number."),
    "set": (
        "account:change",
        "Change the limits of an account; options that are not given keep their value.",
    ),
    "list": ("account:list_accounts", "List the accounts."),
    "trunks": (
        "account:trunks",
        "Set the trunks over which an account calls; `any` means all, in the engines' order.",
    ),
    "start": ("account:start", "Let a stopped account call and be called again."),
    "stop": (
        "account:stop",
        "Hang up an account's calls within three seconds; reject new ones, keys and callbacks.",
    ),
    "region": (
        "account:region",
        "Set the country of an account's numbers without a +; `none` removes it.",
    ),
    "email": ("account:email", "Set the e-mail address of an account; `none` removes it."),
    "transcripts": (
        "account:transcripts",
        "Set the recognizer that transcribes an account's recordings; `none` ends that.",
    ),
    "erase": (
        "erasure:erase",
        "Remove a person's calls, recordings, digits and contacts; report what was removed.",
    ),
    "key": ("keys:key", "An account's API keys."),
    "number": ("numbers:number", "An account's caller ids."),
    "endpoint": (
        "endpoints:endpoint",
        "Endpoints that an account's agents may have, beside PJSIP/ACCOUNT-NAME.",
    ),
    "dnc": ("dnc:dnc", "An account's do-not-call list."),
    "dnc-token": ("dnc:dnc_token", "Tokens that change an account's do-not-call list."),
}
