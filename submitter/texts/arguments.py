"""Texts of the trainer's arguments: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "arguments.key": (
        "{key} is no key for Hydra; write names joined by dots, with +, ++ or ~ in front where needed",
        "{key} 不是 Hydra 的键；请写以点连接的名称，必要时前面加 +、++ 或 ~",
    ),
    "arguments.option": (
        "{key} takes a text: the name or the folder of a Hydra config",
        "{key} 的值必须是文本：Hydra 配置的名称或目录",
    ),
    "arguments.dict_key": (
        "Hydra cannot take {key} as a text key inside {{…}}; write the whole value as {{$text: …}}",
        "Hydra 无法在 {{…}} 中将 {key} 用作文本键；请将整个值写为 {{$text: …}}",
    ),
    "arguments.reference_in_key": (
        "variables are not replaced in keys ({key}); write the key out",
        "键中的变量不会被替换（{key}）；请直接写出键名",
    ),
}
