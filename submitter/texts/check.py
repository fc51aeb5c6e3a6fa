"""Texts of `check`, `explain` and `--force`: id -> (English, Chinese). ` / ` parts paragraphs in help texts."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.check.short": ("What would fail, before any NPU is taken", "在占用 NPU 之前指出会失败的地方"),
    "cli.explain.short": ("Explain a check, a flag, a reason or an alert", "解释检查项、环境变量、失败原因或告警"),
    "cli.check.help": (
        "Say what of JOB would fail or silently not work, with place, value, limit and what to do. Nothing is "
        "submitted. / The arguments are composed against the config tree of the stack's verl (`npurun stacks`). With "
        "--address, the cluster's nodes are looked at too. / Exit code 3 when there is an error, 0 with warnings.",
        "指出 JOB 中会失败或不会生效的内容：位置、值、限制以及处理办法。不会提交任何内容。 / "
        "参数会对照该版本集的 verl 配置树进行组合（见 `npurun stacks`）；给出 --address 时还会检查集群的节点。 / "
        "有错误时退出码为 3，只有警告时为 0。",
    ),
    "cli.explain.help": (
        "Explain a check (NR431: what it looks at and what to do) or a flag (HCCL_CONNECT_TIMEOUT: who reads it, its "
        "values, what to use instead), a reason why an attempt ended (npu_out_of_memory: what it means, what to do) or "
        "an alert of a run that trains (NR905). / Without NAME: the list of all checks; with --flags: of all flags, "
        "and with --stack which of them that stack reads; with --reasons: of all reasons; with --alerts: of alerts.",
        "解释一项检查（NR431：检查什么、如何处理）、一个环境变量（HCCL_CONNECT_TIMEOUT：由谁读取、可取的值、"
        "替代项）、一种结束原因（npu_out_of_memory：含义和处理办法）或一项训练中的告警（NR905）。 / "
        "不带 NAME 时列出所有检查；加 --flags 时列出所有环境变量，"
        "再加 --stack 可查看该版本集会读取其中哪些；加 --reasons 时列出所有原因；"
        "加 --alerts 时列出所有告警。",
    ),
    "cli.argument.name": (
        "A check's id or a flag's name; capitals do not matter",
        "检查的 ID 或环境变量名，不区分大小写",
    ),
    "cli.option.stack": (
        "Another stack than the job's; versions can be replaced: cann-9.1.0,verl=0.9.1 (verl=0.9.1 alone: the "
        "job's stack with that verl)",
        "代替作业中的版本集（stack）；可替换其中的版本：cann-9.1.0,verl=0.9.1"
        "（只写 verl=0.9.1：作业的版本集，仅替换 verl）",
    ),
    "cli.option.force": (
        "Go on in spite of errors with these ids (NR101,NR203)",
        "忽略这些 ID 的错误并继续（NR101,NR203）",
    ),
    "cli.option.no_compose": (
        "Do not compose the arguments against verl's config tree: faster, looks at less",
        "不对照 verl 配置树组合参数：更快，但检查较少",
    ),
    "cli.option.flags": ("List the flags", "列出环境变量"),
    "cli.option.reasons": ("List the reasons", "列出原因"),
    "cli.option.alerts": ("List the alerts", "列出告警"),
    "cli.arithmetic": ("arithmetic", "计算"),
    "cli.not_checked": ("not checked", "未检查"),
    "cli.finding.value": ("value {text}", "值 {text}"),
    "cli.finding.limit": ("limit {text}", "限制 {text}"),
    "cli.finding.forced": ("overridden by --force", "已由 --force 忽略"),
    "cli.count.comma": (", ", "，"),
    "cli.count.none": ("no findings", "没有发现问题"),
    "cli.count.error.one": ("{count} error", "{count} 个错误"),
    "cli.count.error.many": ("{count} errors", "{count} 个错误"),
    "cli.count.warning.one": ("{count} warning", "{count} 个警告"),
    "cli.count.warning.many": ("{count} warnings", "{count} 个警告"),
    "cli.count.hint.one": ("{count} hint", "{count} 个提示"),
    "cli.count.hint.many": ("{count} hints", "{count} 个提示"),
    "cli.count.with_unchecked": ("{counts}; {count} not checked", "{counts}；{count} 项未检查"),
    "check.no_compose": (
        "--no-compose: the arguments were not composed against verl's config tree",
        "--no-compose：没有对照 verl 的配置树组合参数",
    ),
    "cli.check.summary": ("{job} on {stack}: {counts}", "{job}（{stack}）：{counts}"),
    "cli.check.no_stack": ("no stack", "未指定版本集"),
    "cli.shown_with_errors": (
        "{errors} error(s): shown all the same, `npurun submit` refuses this job",
        "{errors} 个错误：仍然显示，但 `npurun submit` 会拒绝此作业",
    ),
    "cli.checks_refuse": (
        "{errors} error(s): nothing was rendered or submitted; to go on all the same: --force {ids}",
        "{errors} 个错误：没有渲染或提交任何内容；如仍要继续：--force {ids}",
    ),
    "cli.checks_refuse_always": (
        "{errors} error(s): nothing was rendered or submitted, and --force does not override {never}",
        "{errors} 个错误：没有渲染或提交任何内容；--force 不能忽略 {never}",
    ),
    "cli.column.id": ("id", "ID"),
    "cli.column.severity": ("severity", "级别"),
    "cli.column.title": ("what it looks at", "检查内容"),
    "cli.column.about": ("about", "说明"),
    "cli.column.message": ("it says", "报告内容"),
    "cli.column.fix": ("what to do", "处理办法"),
    "cli.column.source": ("source", "依据"),
    "cli.column.force": ("--force", "--force"),
    "cli.explain.forcible": ("overrides it", "可忽略"),
    "cli.explain.never_forced": ("does not override it", "不可忽略"),
    "cli.explain.on_nodes": (
        "does not override it; the job says what an unfit node leads to: cluster.on_unfit",
        "不可忽略；节点不可用时的处理由作业的 cluster.on_unfit 决定",
    ),
    "cli.explain.as_found": ("as found", "视情况"),
    "cli.column.flag": ("flag", "环境变量"),
    "cli.column.owner": ("owner", "归属"),
    "cli.column.values": ("values", "可取的值"),
    "cli.column.default": ("default", "默认值"),
    "cli.column.read_by": ("read by", "读取者"),
    "cli.column.when": ("when", "何时"),
    "cli.column.on_stack": ("on the stack", "该版本集"),
    "cli.column.instead": ("instead", "替代项"),
    "cli.column.conflicts": ("conflicts with", "与之冲突"),
    "cli.column.per_node": ("nodes", "节点"),
    "cli.column.evidence": ("evidence", "证据"),
    "cli.flag.read": ("read", "会读取"),
    "cli.flag.not_read": ("not read", "不读取"),
    "cli.flag.unknown": ("not known", "未知"),
    "cli.flag.nobody": ("nothing on NPUs", "NPU 上没有程序读取"),
    "cli.flag.state_span": ("{answer} ({version}; read by {span})", "{answer}（{version}；读取它的版本：{span}）"),
    "cli.flag.at.job": ("by the job's processes", "由作业的进程读取"),
    "cli.flag.at.start": (
        "by `ray start` on each node: env of a job comes too late",
        "由各节点的 `ray start` 读取：写在作业的 env 中为时已晚",
    ),
    "cli.flag.at.build": ("while a package is built, not by a job", "在构建软件包时读取，与作业无关"),
    "cli.flag.at.script": ("by launch scripts alone", "只由启动脚本读取"),
    "cli.flag.node_dependent": ("the right value differs from node to node", "各节点的正确值不同"),
    "explain.both": (
        "{name} and {option}: name one of them, or list all",
        "{name} 与 {option}：要么给出一个名字，要么列出全部",
    ),
    "explain.stack_alone": (
        "a stack decides about flags only: name one, or add --flags",
        "版本集只影响环境变量：请给出一个环境变量名，或加上 --flags",
    ),
    "explain.unknown": (
        "there is no check, flag, reason or alert {name}; the nearest is {nearest} (`npurun explain` lists all)",
        "没有名为 {name} 的检查项、环境变量、原因或告警；最接近的是 {nearest}（`npurun explain` 可列出全部）",
    ),
    "explain.unknown.far": (
        "there is no check, flag, reason or alert {name} (`npurun explain` lists all)",
        "没有名为 {name} 的检查项、环境变量、原因或告警（`npurun explain` 可列出全部）",
    ),
    "force.unknown": (
        "there is no check {name}; the nearest is {nearest} (`npurun explain` lists all)",
        "没有检查项 {name}；最接近的是 {nearest}（`npurun explain` 可列出全部）",
    ),
    "force.unknown.far": (
        "there is no check {name} (`npurun explain` lists all)",
        "没有检查项 {name}（`npurun explain` 可列出全部）",
    ),
    "force.never": (
        "{name} cannot be overridden: the submission itself would break, or give a secret away",
        "{name} 不能忽略：否则提交本身会失败，或会泄露密钥",
    ),
    "force.nothing": (
        "--force {name}: there is no error {name} to override",
        "--force {name}：没有可忽略的 {name} 错误",
    ),
    "family.composition": ("Composition", "参数组合"),
    "family.batch": ("Batch arithmetic", "批大小"),
    "family.tokens": ("Token limits", "token 上限"),
    "family.layout": ("Layout and model", "并行布局与模型"),
    "family.memory": ("Memory and engines", "内存与推理引擎"),
    "family.algorithm": ("Algorithm and reward", "算法与奖励"),
    "family.data": ("Data files and model path", "数据文件与模型路径"),
    "family.recovery": ("Recovery", "恢复"),
    "family.launcher": ("Launcher", "启动器"),
    "family.cluster": ("Cluster shape", "集群形状"),
    "family.inherited": ("What the workers inherit", "worker 继承的环境"),
    "family.flags": ("Flags", "环境变量"),
    "family.hccl": ("Environment and HCCL", "环境与 HCCL"),
    "family.nodes": ("Nodes", "节点"),
}
