"""How calls enter: inbound, outbound, placement and limits."""
