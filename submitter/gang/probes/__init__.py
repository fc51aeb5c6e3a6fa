"""What is measured on each node, and how it is judged across nodes."""
