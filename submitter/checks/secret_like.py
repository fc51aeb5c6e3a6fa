"""What looks like a secret, by its name or by its own shape. Nothing here is ever printed but `***`."""

from __future__ import annotations

import re
from collections.abc import Iterator

MASK = "***"

_NAME = re.compile(
    r"(?:^|[_\-])(?P<kind>(?:api|access|secret|private|auth)[_-]?key|token|secret|password|passwd|passphrase|credentials?"
    r"|authorization)$",
    re.IGNORECASE,
)
"""The end of a name: WANDB_API_KEY, HF_TOKEN, trainer.db_password. Not VLLM_MAX_TOKENS, prompt_key, HF_TOKEN_PATH."""

_TOKENIZER_WORDS = frozenset(
    {"additional", "audio", "begin", "bos", "cls", "delimiter", "dummy", "end", "eos", "fim", "first", "image"}
    | {"last", "mask", "max", "mean", "min", "next", "num", "pad", "per", "placeholder", "prefix", "prompt"}
    | {"response", "sep", "separator", "special", "split", "start", "stop", "suffix", "think", "tool", "unk", "video"}
    | {"vision"}
)
"""`eos_token`, `image_token`, `loss_per_token`: a token of the model, not of a service."""

_SHAPE = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"hf_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI and those who copied its form
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,20}"  # AWS, Alibaba Cloud
    r"|xox[abprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"  # JSON web token
    r")(?![A-Za-z0-9_-])"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?<![A-Za-z0-9_])(?i:bearer)\s+[A-Za-z0-9._~+/\-]{16,}"  # an HTTP header, whatever it is called
    r"|(?<=://)[^/\s:@'\"]*:(?!\$)[^/\s@'\"]+(?=@)"  # user:password of a URL
)

_PAIR = re.compile(
    r"""(?P<name>[A-Za-z0-9_.\-]+)["']?\s*[:=][\s\[]*(?P<value>"[^"]*"|'[^']*'|[^,"'{}\[\]\s]+)""",
)
"""`NAME: value` or `NAME=value` inside a dict, a list or a command line."""

_NO_VALUE = frozenset({"", "null", "none", "true", "false", MASK})
_SHORT_NUMBER_DIGITS = 9
"""`HF_HUB_DISABLE_IMPLICIT_TOKEN=1` is a switch, `eos_token=151645` an id; no service's token is a short number."""


def holds_secret(name: str, text: str) -> bool:
    """Whether `text`, as the value of `name`, looks like a secret or has one in it."""
    if _SHAPE.search(text) or _is_secret(name, text):
        return True
    return any(_is_secret(inner, value) for inner, value in _pairs(text))


def shown(name: str, text: str) -> str:
    """`text` if it may be shown as the value of `name`, else `***`."""
    return MASK if holds_secret(name, text) else text


def redacted(text: str) -> str:
    """`text` with everything in it that has the shape of a secret masked."""
    return _SHAPE.sub(MASK, text)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for pair in _PAIR.finditer(text):
        yield pair["name"], pair["value"]


def _is_secret(name: str, text: str) -> bool:
    kind = _kind(name)
    value = text.strip().strip("'\"").strip()
    if kind is None or value.lower() in _NO_VALUE or value.startswith("$"):  # $: a reference, as ${oc.env:NAME} is
        return False
    return kind != "token" or not _tokenizers(name, value)


def _kind(name: str) -> str | None:
    found = _NAME.search(name.rsplit(".", 1)[-1])
    return found["kind"].lower() if found else None


def _tokenizers(name: str, value: str) -> bool:
    if value[0] in "<[" or (value.isdigit() and len(value) <= _SHORT_NUMBER_DIGITS):
        return True
    words = re.split(r"[_.\-]", name.lower())
    return len(words) > 1 and words[-2] in _TOKENIZER_WORDS
