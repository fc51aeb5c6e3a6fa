"""One value → the text that Hydra's override grammar reads back as exactly that value.

| value | text |
|---|---|
| None, bools | `null`, `True`, `False` |
| number | its spelling in the file |
| string | as it is where Hydra would read it as this string, else in quotes: `''`, `'1e-6'`, `'a=b'`, `"it's"` |
| list, dict | `[1,a,'b c']`, `{key:value}`, no spaces |
| `RawText` | character for character |

Strings stay what they are: `${` is escaped, so that the composed config holds it unchanged. Trap: verl 0.9's TaskRunner
calls `OmegaConf.resolve` on its whole config, which takes the escape away; what reads such a string after that
interpolates it, and no spelling prevents both. Who wants an interpolation writes `{$text: '${data.x}'}`.
`???` is OmegaConf's "missing", in any spelling.
"""

from __future__ import annotations

import re

from submitter.job.hydra_grammar import dict_key_text, is_reserved
from submitter.job.model import Number, RawText, Value

_BARE = re.compile(r"[A-Za-z0-9_/\-+.%*@?|:]+")
# (?<!\\): a long run of backslashes is tried once, not from each of its characters
_INTERPOLATION = re.compile(r"(?<!\\)(\\*)\$\{")


def value_text(value: Value) -> str:
    """The canonical spelling of `value`. ValueError: a dict's key that Hydra's grammar cannot express."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_key(key)}:{value_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(value_text(item) for item in value) + "]"
    if isinstance(value, RawText):
        return value.text
    if isinstance(value, Number):
        return value.spelling
    if isinstance(value, str):
        return _string(value)
    return "null" if value is None else str(value)


def _key(key: str) -> str:
    text = dict_key_text(key)
    if text is None:
        raise ValueError(f"Hydra's grammar cannot express the key {key!r} in a dict")
    return text


def _string(text: str) -> str:
    if _BARE.fullmatch(text) and not is_reserved(text):
        return text
    quote = '"' if "'" in text and '"' not in text else "'"
    return quote + _escaped(_without_interpolation(text), quote) + quote


def _without_interpolation(text: str) -> str:
    r"""`${` → `\${`; backslashes before it are doubled, since OmegaConf halves them there and only there."""
    return _INTERPOLATION.sub(lambda match: match[1] * 2 + r"\${", text)


def _escaped(text: str, quote: str) -> str:
    """`text` for inside quotes: backslashes count double before a quote, the closing one too, and only there."""
    inner = re.sub(rf"(?<!\\)(\\*){quote}", lambda match: match[1] * 2 + "\\" + quote, text)
    return re.sub(r"(?<!\\)\\+$", lambda match: match[0] * 2, inner) if inner.endswith("\\") else inner
