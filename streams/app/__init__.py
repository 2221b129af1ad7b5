"""The process of the gateway: its command, its settings and what it is made of."""
