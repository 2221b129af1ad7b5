"""Values and nodes of stored flows, and the audio that a tree will need."""
