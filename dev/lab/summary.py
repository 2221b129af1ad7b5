"""What a start prints at its end: addresses, keys, numbers, and what to type next."""

import json
import shlex
from pathlib import Path
from typing import Any

from dev.lab.lifecycle import Lab
from dev.lab.plan import DOTENV

_WHISPER_MODEL = "SWITCHROOM_SPEECH_WHISPER_MODEL"


def summary(lab: Lab, elapsed_s: float) -> str:
    """Return where the lab answers, and how it is used."""
    ports, settings = lab.plan.ports(), lab.settings
    number = json.loads(settings["SWITCHROOM_CALLER_IDS"])[0]
    rest, file = f"http://127.0.0.1:{ports.api}", _settings_file(lab)
    nodes = "\n".join(
        f"  {name:<8}SIP 127.0.0.1:{node.sip}, ARI http://127.0.0.1:{node.ari}"
        for name, node in zip(lab.plan.node_names(), ports.nodes, strict=True)
    )
    return f"""ready in {elapsed_s:.0f} s; the state is in {lab.folder}
  console {console_address(lab)}
  rest    {rest}/docs
          account   {settings["SWITCHROOM_ACCOUNT"]}
          apiKey    {settings["SWITCHROOM_API_KEY"]}
          apiSecret {settings["SWITCHROOM_API_SECRET"]}
          number    {", ".join(json.loads(settings["SWITCHROOM_CALLER_IDS"]))}
  engine  http://127.0.0.1:{ports.engine}  (RPC below /rpc/v1, token SWITCHROOM_RPC_TOKEN in {file})
{nodes}
  speech  {_speech(lab)}
  browser {console_address(lab, "/console/playground")}
          a click on Call there calls this browser; {rest}/console/phone is a whole phone
  phones  softphones register as 1001 to 1009, password {settings["SWITCHROOM_AGENT_PASSWORD"]};
          a dial of agent:1001 rings one; to list it as an agent, with its presence:
          switchroom agent set 1001 PJSIP/1001
  trunk   {settings["SWITCHROOM_TRUNK"]}: a phone answers there, and saves what it hears to
          {lab.folder / "phone"}
{_key_for_commands(lab)}
  (. {_sourced(lab)}; switchroom profile set lab --api-url {rest} --api-key "$SWITCHROOM_API_KEY")
this account may call any number but costly ones; a new one may call nothing until you allow it:
  switchroom account create acme --allow +47
  switchroom account set acme --allow +47 --allow +46 --allow sip:
next:
  switchroom doctor
  switchroom route set {number} http://127.0.0.1:3000/call    your webhook, or @FILE with a verb
  switchroom dev call {number} --save call.wav                call it, and keep what is heard"""


def _speech(lab: Lab) -> str:
    if lab.has_speech:
        whisper = " (whisper: any sentence)" if lab.settings.get(_WHISPER_MODEL) else ""
        return f'a gather with "input": ["speech"] understands its hints, and digits{whisper}'
    return "no recognizers: pip install 'switchroom[recognition]', then start again"


def _key_for_commands(lab: Lab) -> str:
    file = _settings_file(lab)
    if file == DOTENV.name:
        return "commands find this account's key in .env of this folder; for other folders:"
    return (
        f"commands find this account's key in .env only; with the settings in {file}, first type:"
    )


def _settings_file(lab: Lab) -> str:
    """Return the file with the settings, as a person reads it: `.env`, if it is that one here."""
    path = Path(lab.plan.settings) if lab.plan.settings else DOTENV.absolute()
    return DOTENV.name if path == DOTENV.absolute() else str(path)


def _sourced(lab: Lab) -> str:
    """Return the same for a shell, which looks for a plain name elsewhere."""
    file = _settings_file(lab)
    return f"./{file}" if file == DOTENV.name else shlex.quote(file)


def console_address(lab: Lab, page: str = "") -> str:
    """Return the address of the console, or of a page of it.

    What follows # signs in, and is sent to no server.
    """
    key, secret = (lab.settings[f"SWITCHROOM_API_{name}"] for name in ("KEY", "SECRET"))
    query = f"?next={page}" if page else ""
    return f"http://127.0.0.1:{lab.plan.ports().api}/console/sign-in{query}#{key}:{secret}"


def kept_names(names: list[str], path: Path) -> str:
    """Return the warning for settings that the developer's own lines replace."""
    return (
        f"{path} has its own {', '.join(names)}, which stay: commands in this folder use them,"
        " and may reach another server than this lab"
    )


def summary_value(lab: Lab) -> dict[str, Any]:
    """Return the same for programs, without secrets."""
    ports = lab.plan.ports()
    return {
        "folder": str(lab.folder),
        "restUrl": f"http://127.0.0.1:{ports.api}",
        "engineUrl": f"http://127.0.0.1:{ports.engine}",
        "account": lab.settings["SWITCHROOM_ACCOUNT"],
        "numbers": json.loads(lab.settings["SWITCHROOM_CALLER_IDS"]),
        "pbx": lab.plan.pbx,
        "sipAddresses": [f"127.0.0.1:{node.sip}" for node in ports.nodes],
        "phone": str(lab.folder / "phone"),
    }
