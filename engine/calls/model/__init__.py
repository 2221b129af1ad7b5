"""The values of a call: its state, legs, sessions, events, requests and commands."""
