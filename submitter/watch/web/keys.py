"""Sessions and form tokens, made of the token by HMAC: nothing is kept, and a new token ends them all. Pure."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

SESSION_S = 12 * 3600
"""A working day; then the token is asked for again."""
_NONCE_BYTES = 16


@dataclass(frozen=True)
class Keys:
    token: str

    def is_token(self, text: str) -> bool:
        """In constant time."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    def new_session(self, now_s: float) -> str:
        """For a cookie: `<end>.<nonce>.<signature>`; says nothing of the token."""
        said = f"{int(now_s) + SESSION_S}.{secrets.token_hex(_NONCE_BYTES)}"
        return f"{said}.{self._signed('session', said)}"

    def is_session(self, text: str, now_s: float) -> bool:
        said, _, signature = text.rpartition(".")
        end = said.partition(".")[0]
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signed("session", said).encode()):
            return False
        return end.isdecimal() and now_s < int(end)

    def form_token(self, session: str) -> str:
        """What each form of that session carries: another site cannot know it."""
        return self._signed("form", session)

    def is_form_token(self, text: str, session: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.form_token(session).encode())

    def _signed(self, purpose: str, text: str) -> str:
        said = f"{purpose}:{text}".encode("utf-8", "replace")
        return hmac.new(self.token.encode(), said, hashlib.sha256).hexdigest()
