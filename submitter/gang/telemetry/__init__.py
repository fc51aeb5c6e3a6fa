"""What the nodes measure of themselves while the trainer works: NPUs, memory, load; and how it leaves the cluster."""
