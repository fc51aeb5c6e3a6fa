"""From which checkpoint an attempt goes on: what each node has, and what all nodes together can load."""
