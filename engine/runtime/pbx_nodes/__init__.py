"""PBX nodes: their events, outages, drains, health and clean-up."""
