"""Texts of `npurun jobs`."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.jobs.short": ("The job files that ship with npurun", "列出随 npurun 提供的作业文件"),
    "cli.jobs.help": (
        "List the job files that ship with npurun: what each trains, with what, on how many nodes × NPUs per node, "
        "and with how many tokens of prompt + response. Options pick among them; several must all hold. / A path to "
        "a job file works wherever a name does.",
        "列出随 npurun 提供的作业文件：模型、算法、训练与推理引擎、节点数 × 每节点 NPU 数、提示 + 回复的 token 数。"
        "可用选项筛选，多个选项须同时满足。 / 凡是可以写作业名的地方都可以写作业文件路径。",
    ),
    "cli.jobs.model": ("Only models whose name has TEXT in it, as 30b", "只列出名称含 TEXT 的模型，如 30b"),
    "cli.jobs.algorithm": ("Only this algorithm: grpo, gspo, ppo, …", "只列出该算法：grpo、gspo、ppo 等"),
    "cli.jobs.engine": ("Only this training engine: fsdp, megatron, …", "只列出该训练引擎：fsdp、megatron 等"),
    "cli.jobs.rollout": ("Only this rollout engine: vllm, sglang", "只列出该推理引擎：vllm、sglang"),
    "cli.jobs.nodes": ("Only jobs for N nodes", "只列出用 N 个节点的作业"),
    "cli.jobs.stack": ("Only jobs for this stack (`npurun stacks`)", "只列出用于该版本集的作业（见 `npurun stacks`）"),
    "cli.jobs.none_such": (
        "no shipped job meets {option} {value}; there are: {known}",
        "随 npurun 提供的作业中没有满足 {option} {value} 的；可选：{known}",
    ),
    "cli.jobs.none": ("no shipped job meets all of {options}", "没有作业同时满足 {options}"),
    "cli.column.model": ("model", "模型"),
    "cli.column.algorithm": ("algorithm", "算法"),
    "cli.column.engine": ("engine", "训练"),
    "cli.column.rollout": ("rollout", "推理"),
    "cli.column.npus": ("NPUs", "NPU"),
    "cli.column.context": ("tokens", "token"),
}
