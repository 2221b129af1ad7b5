"""A telephone of one UDP socket for SIP and one for RTP: it calls, or answers all calls."""
