"""How a call is reconciled with its PBX after an outage."""
