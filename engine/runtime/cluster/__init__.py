"""Engines that share slots: leases, membership, reachability, rebalancing."""
