"""Texts of `check`, `explain` and `--force`: id -> (English, Chinese). ` / ` parts paragraphs in help texts."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.check.short": ("What would fail, before any NPU is taken", "在占用 NPU 之前指出会失败的地方"),
    "cli.explain.short": ("Explain a check or a flag", "解释一项检查或一个环境变量"),
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
        "values, what to use instead). / Without NAME: the list of all checks; with --flags: of all flags, and with "
        "--stack which of them that stack reads.",
        "解释一项检查（NR431：检查什么、如何处理）或一个环境变量（HCCL_CONNECT_TIMEOUT：由谁读取、可取的值、"
        "替代项）。 / 不带 NAME 时列出所有检查；加 --flags 时列出所有环境变量，"
        "再加 --stack 可查看该版本集会读取其中哪些。",
    ),
    "cli.argument.name": (
        "A check's id or a flag's name; capitals do not matter",
        "检查的 ID 或环境变量名，不区分大小写",
    ),
    "cli.option.stack": (
        "Another stack than the job's; versions can be replaced: cann-9.1.0,verl=0.9.1",
        "代替作业中的版本集（stack）；可替换其中的版本：cann-9.1.0,verl=0.9.1",
    ),
    "cli.option.force": (
        "Go on in spite of errors with these ids (NR101,NR203)",
        "忽略这些 ID 的错误并继续（NR101,NR203）",
    ),
    "cli.option.no_compose": (
        "Do not compose the arguments against verl's config tree: faster, looks at less",
        "不对照 verl 配置树组合参数：更快，但检查较少",
    ),
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
    "cli.check.summary": ("{job} on {stack}: {counts}", "{job}（{stack}）：{counts}"),
    "cli.check.no_stack": ("no stack", "未指定版本集"),
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
    "explain.unknown": (
        "there is no check or flag {name}; the nearest is {nearest} (`npurun explain` lists all)",
        "没有名为 {name} 的检查项或环境变量；最接近的是 {nearest}（`npurun explain` 可列出全部）",
    ),
    "force.unknown": (
        "there is no check {name}; the nearest is {nearest} (`npurun explain` lists all)",
        "没有检查项 {name}；最接近的是 {nearest}（`npurun explain` 可列出全部）",
    ),
    "force.never": (
        "{name} cannot be overridden: the submission itself would break, or give a secret away",
        "{name} 不能忽略：否则提交本身会失败，或会泄露密钥",
    ),
    "force.nothing": (
        "--force {name}: there is no error {name} to override",
        "--force {name}：没有可忽略的 {name} 错误",
    ),
}
