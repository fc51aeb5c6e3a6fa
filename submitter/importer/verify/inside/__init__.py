"""The sandbox from its inside: what the helper process runs. Standard library and relative imports alone: it starts by
`python -I -S`, so that nothing of the machine's or the user's Python set-up takes part."""
