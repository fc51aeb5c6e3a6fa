"""Texts of the command line: id -> (English, Chinese). ` / ` parts paragraphs in help texts."""

TEXTS: dict[str, tuple[str, str]] = {
    "cli.help": (
        "Run verl GRPO training on a multi-node Ascend NPU cluster that runs Ray, from one job file.",
        "用一个作业文件，在运行 Ray 的多机昇腾 NPU 集群上执行 verl GRPO 训练。",
    ),
    "cli.render.short": ("Show what would be run or posted; posts nothing", "显示将要执行或提交的内容，不提交"),
    "cli.submit.short": ("Submit a job, follow it to its end", "提交作业并跟踪到结束"),
    "cli.list.short": ("Runs and their states", "列出运行及其状态"),
    "cli.status.short": ("How a run is doing", "查看一次运行的状态"),
    "cli.logs.short": ("Print or follow the log of a run", "打印或持续跟踪运行日志"),
    "cli.stop.short": ("Stop a run, wait until it has stopped", "停止一次运行并等待其结束"),
    "cli.rehearse.short": (
        "Train for real on this machine: local Ray nodes, verl on CPU",
        "在本机真实演练：本地多个 Ray 节点，verl 跑在 CPU 上",
    ),
    "cli.completion.short": ("Print the shell completion script", "打印 shell 补全脚本"),
    "cli.render.help": (
        "Show what JOB comes to, in one of five forms; posts nothing. / argv: the trainer's command, one argument a "
        "line. env: the job's flags. request: what submit posts, byte for byte with --address. command: a "
        "`ray job submit` line that works when pasted. bash: a script. / Errors that the checks find are told and "
        "nothing is rendered (exit code 3).",
        "以五种形式之一显示 JOB 的展开结果，不会提交任何内容。 / argv：训练器命令，每行一个参数。env：作业的环境变量。"
        "request：submit 提交的内容，给出 --address 时逐字节一致。command：可直接粘贴执行的 `ray job submit` 命令行。"
        "bash：脚本。 / 检查发现错误时只报告错误，不输出结果（退出码 3）。",
    ),
    "cli.submit.help": (
        "Submit JOB to the Ray cluster, follow its log, and exit with its outcome: 0 done, 1 failed, "
        "5 not placed, 6 stopped. / The job is checked first (`npurun check`): an error refuses it, exit code 3, "
        "unless --force names it. / Ctrl-C ends the following; the run goes on. / With --detach, stdout is the "
        "run's name and nothing else.",
        "把 JOB 提交到 Ray 集群，跟踪日志，并以运行结果作为退出码：0 成功，1 失败，5 无法放置，6 被停止。"
        " / 提交前先检查作业（见 `npurun check`）：有错误时拒绝提交，退出码 3，除非用 --force 写明。"
        " / Ctrl-C 只结束跟踪，运行继续。 / 加 --detach 时，标准输出只有运行名。",
    ),
    "cli.list.help": (
        "List the runs that this machine submitted, and those of other machines on the cluster.",
        "列出本机提交的运行，以及集群上由其他机器提交的运行。",
    ),
    "cli.status.help": (
        "Show a run: state, step, attempts, nodes. What is not known is shown as '-' (null in JSON).",
        "显示一次运行：状态、步数、各次尝试、节点。未知的值显示为 '-'（JSON 中为 null）。",
    ),
    "cli.logs.help": (
        "Print the log of a run's newest attempt; with -f go on until the attempt ends, and exit with its outcome.",
        "打印运行最近一次尝试的日志；加 -f 则持续到该次尝试结束，并以其结果作为退出码。",
    ),
    "cli.stop.help": (
        "Stop a run and wait, within a bound, until the cluster says that it has stopped.",
        "停止一次运行，并在限定时间内等待集群确认已停止。",
    ),
    "cli.rehearse.help": (
        "Rehearse JOB on this machine: as many local Ray nodes as the job has, the same submission as on a real "
        "cluster, the real verl trainer on CPU with a tiny model. Prints every argument that it changes. / "
        "It does not rehearse HCCL, vLLM-Ascend, device memory, NPU visibility or a real network.",
        "在本机演练 JOB：按作业的节点数启动本地 Ray 节点，走与真实集群相同的提交流程，"
        "用真实的 verl 训练器在 CPU 上训练一个极小的模型，并打印它改动的每个参数。 / "
        "演练不覆盖 HCCL、vLLM-Ascend、显存、NPU 可见性和真实网络。",
    ),
    "cli.completion.help": (
        "Print the completion script of SHELL: bash, zsh or fish. / bash, in ~/.bashrc: "
        'eval "$(npurun completion bash)" / zsh, in ~/.zshrc: eval "$(npurun completion zsh)" / '
        "fish: npurun completion fish > ~/.config/fish/completions/npurun.fish",
        "打印 SHELL（bash、zsh 或 fish）的补全脚本。 / bash，写入 ~/.bashrc："
        'eval "$(npurun completion bash)" / zsh，写入 ~/.zshrc：eval "$(npurun completion zsh)" / '
        "fish：npurun completion fish > ~/.config/fish/completions/npurun.fish",
    ),
    "cli.lang.sample": ("English", "中文"),
    "cli.heading.usage": ("Usage: ", "用法："),
    "cli.heading.options": ("Options", "选项"),
    "cli.heading.arguments": ("Arguments", "参数"),
    "cli.heading.commands": ("Commands", "命令"),
    "cli.option.lang": ("Language of what people read: en or zh", "界面语言：en 或 zh"),
    "cli.option.help": ("Show this help", "显示本帮助"),
    "cli.option.version": ("Show the version", "显示版本"),
    "cli.argument.job": (
        "A job file's path, or the name of one that ships (`npurun jobs`)",
        "作业文件路径，或随 npurun 提供的作业名（见 `npurun jobs`）",
    ),
    "cli.argument.run": ("The run's name, as submit gave it (`npurun list`)", "运行名（见 `npurun list`）"),
    "cli.argument.shell": ("bash, zsh or fish", "bash、zsh 或 fish"),
    "cli.option.set": (
        "Value of a declared variable; wins over the file and the environment",
        "设置已声明的变量，优先于作业文件和环境变量",
    ),
    "cli.option.address": (
        "Ray's dashboard address; else RAY_API_SERVER_ADDRESS, an http RAY_ADDRESS, http://127.0.0.1:8265",
        "Ray dashboard 地址；默认依次取 RAY_API_SERVER_ADDRESS、http 形式的 RAY_ADDRESS、http://127.0.0.1:8265",
    ),
    "cli.option.ca": ("CA bundle for an https address", "https 地址使用的 CA 证书文件"),
    "cli.option.json": ("One JSON document on stdout", "在标准输出打印一个 JSON 文档"),
    "cli.option.as": (
        "argv (the default), env, request, command or bash",
        "显示的形式：argv（默认）、env、request、command 或 bash",
    ),
    "cli.option.run": (
        "Name of the run (a-z, 0-9, -; at most 57 characters); a live run of that name is adopted",
        "运行名（a-z、0-9、-，至多 57 个字符）；同名且仍在运行的会被接管",
    ),
    "cli.option.render_run": ("Name of the run in the request", "请求中的运行名"),
    "cli.option.attempt": ("Number of the attempt in the request; 1 by default", "请求中的尝试序号，默认为 1"),
    "cli.option.output": (
        "Write the package that travels with the request into this folder (for request and command)",
        "把随请求发送的包写入该目录（用于 request 和 command）",
    ),
    "cli.option.detach": ("Return after the submission", "提交后立即返回"),
    "cli.option.follow": ("Go on until the attempt ends", "持续跟踪直到该次尝试结束"),
    "cli.option.nodes": ("Number of local nodes, instead of the job's", "本地节点数，代替作业中的节点数"),
    "cli.column.job": ("job", "作业"),
    "cli.column.summary": ("summary", "说明"),
    "cli.column.run": ("run", "运行"),
    "cli.column.state": ("state", "状态"),
    "cli.column.reason": ("reason", "原因"),
    "cli.column.attempt": ("attempt", "尝试"),
    "cli.column.step": ("step", "步数"),
    "cli.column.nodes": ("nodes", "节点"),
    "cli.column.started": ("started", "开始"),
    "cli.column.ended": ("ended", "结束"),
    "cli.column.address": ("address", "地址"),
    "cli.severity.error": ("error", "错误"),
    "cli.severity.warning": ("warning", "警告"),
    "cli.severity.hint": ("hint", "提示"),
    "cli.see_help": ("Try '{command} --help'.", "参见 '{command} --help'。"),
    "cli.interrupted": (
        "interrupted; a run that was submitted goes on (`npurun list`)",
        "已中断；已提交的运行不受影响（见 `npurun list`）",
    ),
    "cli.output_lost": ("cannot write to stdout: {reason}", "无法写入标准输出：{reason}"),
    "cli.output_without_package": (
        "--as {form} has no package to write: -o goes with --as request or --as command",
        "--as {form} 没有可写出的包：-o 只用于 --as request 或 --as command",
    ),
    "cli.output_unwritable": (
        "cannot write into the folder {folder}: {reason}",
        "无法写入目录 {folder}：{reason}",
    ),
    "cli.no_runs": ("no runs known; submit one: npurun submit JOB", "还没有任何运行；提交一个：npurun submit JOB"),
    "cli.no_log": (
        "{submission} has no log yet: npurun status {run}",
        "{submission} 还没有日志：npurun status {run}",
    ),
    "cli.usage.argument": ("unexpected argument {value}", "多余的参数 {value}"),
    "cli.usage.command": (
        "no command {value}; the nearest is {nearest}",
        "没有命令 {value}；最接近的是 {nearest}",
    ),
    "cli.usage.command.far": (
        "no command {value}",
        "没有命令 {value}",
    ),
    "cli.usage.option": ("no option {option}", "没有选项 {option}"),
    "cli.usage.option_nearest": (
        "no option {option}; the nearest is {nearest}",
        "没有选项 {option}；最接近的是 {nearest}",
    ),
    "cli.usage.missing": ("{name} is missing", "缺少 {name}"),
    "cli.usage.no_value": ("{option} needs a value", "{option} 需要一个值"),
    "cli.usage.flag_value": ("{option} takes no value", "{option} 不带值"),
    "cli.usage.choice": ("{option}: {value} is not one of {choices}", "{option}：{value} 不是 {choices} 之一"),
    "cli.usage.at_least_one": (
        "{option}: {value} is not a whole number of at least 1",
        "{option}：{value} 不是大于等于 1 的整数",
    ),
    "cli.usage.dashes": (
        "unexpected argument {value}: trainer arguments go after --, as in `npurun {command} JOB -- {value}`",
        "多余的参数 {value}：训练器参数写在 -- 之后，例如 `npurun {command} JOB -- {value}`",
    ),
    "cli.no_address.request": (
        "no --address given: {placeholder} stands for the head node's id, and {run} for the run's name",
        "未指定 --address：{placeholder} 代表头节点 ID，{run} 代表运行名",
    ),
    "cli.no_address.command": (
        "no --address given: the line finds the cluster by RAY_API_SERVER_ADDRESS, and names the run {run}",
        "未指定 --address：该命令行通过 RAY_API_SERVER_ADDRESS 查找集群，运行名为 {run}",
    ),
    "cli.torchrun_per_node": (
        "npurun adds --node_rank and the rendezvous endpoint on each node",
        "npurun 会在每个节点上补充 --node_rank 和 rendezvous 地址",
    ),
    "cli.package_written": ("package written to {folder}", "包已写入 {folder}"),
    "cli.submitted": ("run {run} submitted as {submission} to {address}", "运行 {run} 已提交：{submission}，{address}"),
    "cli.adopted": (
        "run {run} is already on the cluster with the same request: {submission} at {address}",
        "集群上已有请求完全相同的运行 {run}：{submission}，{address}",
    ),
    "cli.next.follow": ("follow: npurun logs {run} -f", "跟踪：npurun logs {run} -f"),
    "cli.next.state": ("state:  npurun status {run}", "状态：npurun status {run}"),
    "cli.next.stop": ("stop:   npurun stop {run}", "停止：npurun stop {run}"),
    "cli.next.log": ("log: npurun logs {run}", "日志：npurun logs {run}"),
    "cli.dashboard": ("Ray dashboard: {url}", "Ray dashboard：{url}"),
}
