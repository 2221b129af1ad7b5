"""The tree of commands: nouns with verbs, by name, so that a command imports only what it needs."""

import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated, Any, Literal

import cyclopts
from cyclopts import Parameter

from cli.help import add_named_command, usage_panel

_COMMANDS = "cli.commands"
# The noun's group is the attribute of its name. `--help` shows the texts without an import.
NOUNS: Mapping[str, tuple[str, str]] = {
    "call": ("call", "Start, list, show and control calls."),
    "transfer": ("sessions.transfers", "Transfer the customer of a call to another party."),
    "conference": (
        "sessions.conferences", "Turn a call into a conference and manage its members."
    ),
    "stream": (
        "sessions.streams",
        "List and stop the streams of a call; let bots listen, and send them texts.",
    ),
    "recording": ("recordings", "Record calls; list, save and delete recordings."),
    "number": ("numbers", "Show the numbers of an account with their routes."),
    "route": ("numbers", "Manage what calls to a number run."),
    "flow": ("flows", "Manage flows, their versions, and which of them calls run."),
    "request": ("requests", "Manage HTTP requests that flows and status callbacks send."),
    "agent": ("agents", "Manage the agents in an account's directory."),
    "callback": (
        "callbacks", "Manage status callbacks: target, signing secret and dead letters."
    ),
    "cdr": ("records", "Show the records of ended calls."),
    "audit": ("records", "Show who did what in the account."),
    "webhook": ("webhooks", "Show and repeat the requests to an account's servers."),
    "account": ("account", "Manage accounts, their keys, numbers and limits."),
    "job": ("jobs", "Show and cancel the background jobs of the account."),
    "key": ("keys", "Manage the API keys of the account."),
    "profile": ("profiles", "Manage named servers and keys, and choose the one in use."),
    "node": ("nodes", "List the PBX nodes; drain or undrain one."),
    "slots": ("nodes", "Show or change the number of slots per PBX node."),
    "convert": ("convert", "Convert documents of other platforms."),
}  # fmt: skip
# Commands without a noun, and nouns that are not in the folder of the others.
OTHERS: Mapping[str, tuple[str, str]] = {
    "doctor": (
        "cli.doctor.command:doctor",
        "Check settings, store, PBX nodes, engine and this machine; exit status 1 on a failure.",
    ),
    "listen": (
        f"{_COMMANDS}.listen:listen",
        "Answer the webhooks of a number or call with a local server.",
    ),
    "new": (
        "cli.new:new",
        "Create an application from a sample, and print the commands that run it.",
    ),
    "asset": (
        "cli.assets:asset",
        "List the files for operators, and save them to a folder.",
    ),
    "error": ("cli.error_codes:error", "Explain the error codes of all programs."),
    "completion": ("cli.tree:completion", "Print the completion script of a shell."),
    "engine": (
        "cli.programs.engine:engine",
        "Run an engine until SIGTERM; another engine continues its calls.",
    ),
    "streams": (
        "cli.programs.streams:streams",
        "Run a stream gateway until SIGTERM; engines reach bots over it.",
    ),
    "speech": (
        "cli.programs.speech:speech",
        "Run speech recognizers until SIGTERM; stream gateways send them callers' audio.",
    ),
    "api": (
        "cli.programs.api:app",
        "Run the REST layer; migrate its database; push dial policies.",
    ),
    "dev": (
        "cli.dev:dev",
        "Run a lab on this machine: PBX, store, engine, REST layer and a phone that answers.",
    ),
    "backup": (
        "cli.database.backup:backup",
        "Write the database and the settings to a file that is sealed with a passphrase.",
    ),
    "restore": (
        "cli.database.backup:restore",
        "Restore a backup to the empty database of SWITCHROOM_DATABASE_URL: all of it, or nothing.",
    ),
}


def _default(value: Any) -> str | None:
    """Return what help says about a default; an empty one is not worth a word."""
    return str(value) if value else None


app = cyclopts.App(
    name="switchroom",
    help=(
        "Self-hosted, Twilio-style voice API for Asterisk: live calls survive engine crashes.\n\n"
        "Commands use the REST layer with the key of a profile (`switchroom profile --help`), or of"
        " the environment. With an operator's key, --account names another account.\n\n"
        "Example: switchroom call create --from +4721930000 --to +4722222222 --flow menu"
    ),
    error_formatter=usage_panel,
    version=lambda: version("switchroom"),
    help_format="plaintext",  # Markdown's imports take longer than the rest of `--help`
    default_parameter=Parameter(negative=(), show_default=_default),
)
for _name, (_module, _help) in NOUNS.items():
    add_named_command(app, f"{_COMMANDS}.{_module}:{_name}", _name, _help)
for _name, (_path, _help) in OTHERS.items():
    add_named_command(app, _path, _name, _help)


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], Parameter(name="SHELL", help="Shell of the script.")
    ],
) -> None:
    """Print the completion script of a shell.

    Example: switchroom completion bash
    """
    sys.stdout.write(app.generate_completion(shell=shell))
