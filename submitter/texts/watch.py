"""Texts of `npurun watch`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.watch.short": ("How a run is doing, live in the terminal", "在终端实时查看运行状况"),
    "cli.watch.help": (
        "Show a run live: progress and time left, key curves, where a step's time goes, nodes, attempts, alerts and "
        "the end of the log. / In a pipe or a file: one line per step, and one for each end, decision and alert. q or "
        "Ctrl-C leaves; the run goes on. When the run is over, the exit code is the run's.",
        "实时显示运行：进度与剩余时间、关键曲线、每步时间分布、节点、尝试、警报和日志末尾。 / 在管道或文件中："
        "每步一行，每次结束、决定和警报各一行。按 q 或 Ctrl-C 离开，运行继续。运行结束后，退出码即运行的退出码。",
    ),
    "watch.unknown": (
        "the ledger here has no run {run}: npurun list shows those it has; npurun logs {run} -f follows one that was "
        "submitted elsewhere",
        "本机记录中没有运行 {run}：用 npurun list 查看已有的运行；在别处提交的运行可用 npurun logs {run} -f 跟随",
    ),
    "watch.goes_on": ("run {run} goes on: npurun watch {run}", "运行 {run} 仍在继续：npurun watch {run}"),
    "watch.no_step": ("no step yet", "尚未完成训练步"),
    "watch.step_of_unknown": ("step {step}; how many there will be is not known", "第 {step} 步；总步数未知"),
    "watch.left": ("{time} left ({spread})", "剩余 {time}（{spread}）"),
    "watch.reward": ("reward {value}", "奖励 {value}"),
    "watch.per_hour": ("{value} steps/h", "{value} 步/小时"),
    "watch.step_s": ("{value} s/step", "{value} 秒/步"),
    "watch.tokens": ("{value} tok/s/NPU", "{value} tok/s/NPU"),
    "watch.goodput": ("goodput {value}", "有效时间 {value}"),
    "watch.not_measured": ("not measured", "未测量"),
    "watch.no_nodes": ("nodes: nothing measured yet", "节点：尚无测量数据"),
    "watch.nodes_head": (
        "node             NPU use       HBM           host memory",
        "节点             NPU 利用率    HBM           主机内存",
    ),
    "watch.more_nodes": ("and {count} nodes more", "另有 {count} 个节点"),
    "watch.unhealthy": ("NPU {npus} not well", "NPU {npus} 异常"),
    "watch.steps": ("steps {first}-{last}", "步 {first}-{last}"),
    "watch.again": ("{count} trained again", "{count} 步重新训练"),
    "watch.no_log": ("the log cannot be read: {error}", "无法读取日志：{error}"),
    "watch.over": ("the run is over; q leaves", "运行已结束；按 q 离开"),
    "watch.keys": ("q leaves, the run goes on; seen {age} ago", "按 q 离开，运行继续；{age}前更新"),
}
