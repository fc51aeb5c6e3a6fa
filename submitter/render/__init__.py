"""Pure: Job -> plan, submit request, `ray job submit` line, bash script."""
