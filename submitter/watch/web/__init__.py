"""The pages of `npurun serve`: everything about runs, nodes and logs, for those who have the token.

Nothing here is imported unless pages are served: Starlette, uvicorn and Jinja2 come with the extra `web`.
"""
