"""The manager interface (AMI) of one PBX: for the few functions that ARI lacks."""
