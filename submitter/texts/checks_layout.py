"""Texts of the layout rules (NR241 to NR269) and of reading a model's shape: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "model.from_table": (
        "from npurun's table of known shapes, row {row}, since its config.json cannot be read here",
        "来自 npurun 的已知模型结构表中的 {row} 一行，因为此处读不到它的 config.json",
    ),
    "model.from_config": ("from {path}", "来自 {path}"),
    "model.why.unnamed": (
        "actor_rollout_ref.model.path names no model",
        "actor_rollout_ref.model.path 没有指定模型",
    ),
    "model.why.absent": (
        "{path} is not on this machine, and npurun's table of known shapes does not have that model",
        "{path} 不在本机上，npurun 的已知模型结构表中也没有该模型",
    ),
    "model.why.forbidden": (
        "{path} may not be read, and npurun's table of known shapes does not have that model",
        "没有读取 {path} 的权限，npurun 的已知模型结构表中也没有该模型",
    ),
    "model.why.no_file": ("{path} is no ordinary file", "{path} 不是普通文件"),
    "model.why.json": ("{path} is not valid JSON, or no JSON object", "{path} 不是有效的 JSON，或不是 JSON 对象"),
    "model.why.large": ("{path} is larger than {limit}", "{path} 超过 {limit}"),
    "model.why.os": ("{path} cannot be read: {reason}", "无法读取 {path}：{reason}"),
    "model.why.no_sizes": (
        "{path} names neither layers nor attention heads",
        "{path} 中既没有层数，也没有注意力头数",
    ),
}
