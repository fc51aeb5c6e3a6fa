"""Texts of `npurun resume`, `npurun diff` and what `status` says of recovery: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.resume.short": ("Go on with a run that failed or was stopped", "继续一次失败或已停止的运行"),
    "cli.resume.help": (
        "Go on with RUN, which failed or was stopped: another attempt with the same request, from the newest complete "
        "checkpoint. Follows it as submit does; Ctrl-C ends only the following.",
        "继续已失败或已停止的 RUN：用同样的请求再做一次尝试，从最新的完整检查点开始。"
        "与 submit 一样跟踪；Ctrl-C 只结束跟踪。",
    ),
    "cli.diff.short": ("What two attempts have differently", "比较两次尝试的差别"),
    "cli.diff.help": (
        "Compare two attempts: arguments, environment, cluster, installed versions, nodes, outcome. / RUN is its "
        "newest attempt, RUN/a2 the second one.",
        "比较两次尝试：参数、环境变量、集群、已安装的版本、节点、结果。 / RUN 表示最近一次尝试，RUN/a2 表示第二次。",
    ),
    "cli.diff.arguments": ("arguments", "参数"),
    "cli.diff.environment": ("environment", "环境变量"),
    "cli.diff.cluster": ("cluster", "集群"),
    "cli.diff.versions": ("versions", "版本"),
    "cli.diff.nodes": ("nodes", "节点"),
    "cli.diff.outcome": ("outcome", "结果"),
    "cli.argument.left": (
        "An attempt: RUN for its newest, RUN/a2 for the second",
        "一次尝试：RUN 为最近一次，RUN/a2 为第二次",
    ),
    "cli.argument.right": ("The one to compare it with", "与之比较的另一次"),
    "cli.column.key": ("key", "键"),
    "cli.column.left": ("left", "左"),
    "cli.column.right": ("right", "右"),
    "cli.column.steps": ("steps", "步数"),
    "cli.column.next": ("next", "下一步"),
    "cli.next.attempt": ("attempt {attempt} at {at}", "{at} 开始第 {attempt} 次尝试"),
    "cli.next.resume": ("go on: npurun resume {run}", "继续：npurun resume {run}"),
    "cli.resumed": (
        "run {run} goes on after attempt {attempt} (last step {step})",
        "运行 {run} 将在第 {attempt} 次尝试之后继续（最后一步 {step}）",
    ),
    "cli.no_supervisor": (
        "no supervisor is at work here, so nobody notices how the attempt ends; start one: npurun serve",
        "本机没有 supervisor 在工作，尝试结束时无人处理；请启动：npurun serve",
    ),
    "decide.resumed": ("the run was resumed by hand", "运行被手动恢复"),
}
