"""Media streams: runs their commands with the PBX and its gateways, and passes reports to calls."""
