"""Texts of `npurun serve`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.serve.short": ("Care for all submitted runs in the foreground", "在前台运行 supervisor，负责所有已提交的运行"),
    "cli.serve.help": (
        "Care for every run of this ledger: watch it, find out why an attempt ended, and submit the next one. / submit "
        "and resume start the same by themselves, in the background; one process serves a ledger. Ctrl-C or SIGTERM "
        "ends the care, never a run. Run it as a service where processes end when their user logs out. / With --json, "
        "each line is a JSON object: time, event, run, text, values.",
        "作为 supervisor 负责本机记录中的所有运行：观察状态、判断一次尝试结束的原因、提交下一次尝试。 / submit 和 "
        "resume 会自动在后台启动同样的进程；每份记录只由一个进程服务。Ctrl-C 或 SIGTERM 只结束 supervisor，"
        "不会结束任何运行。若系统在用户登出时结束其进程，请将其配置为服务。 / 使用 --json 时每行是一个 JSON 对象："
        "time、event、run、text、values。",
    ),
    "cli.option.until_idle": (
        "leave when no run is active any more",
        "没有活动的运行时退出",
    ),
}
