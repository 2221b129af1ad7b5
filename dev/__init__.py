"""The lab of developers, `switchroom dev`: a PBX, a store, the two programs and a phone."""
