"""How calls enter: inbound, outbound, node selection and limits."""
