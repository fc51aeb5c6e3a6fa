"""Texts of the runtime environment and its checks: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "stack.unknown": (
        "there is no stack {name}; the nearest is {nearest} (known: {known})",
        "没有名为 {name} 的版本集（stack）；最接近的是 {nearest}（已知：{known}）",
    ),
    "stack.unknown.far": (
        "there is no stack {name} (known: {known})",
        "没有名为 {name} 的版本集（stack）（已知：{known}）",
    ),
    "stack.form": (
        "{part} changes no version of the stack: write COMPONENT=VERSION behind the stack's name, "
        "as in cann-9.1.0,verl=0.9.1",
        "{part} 没有替换版本集（stack）中的任何版本：请在版本集名称之后写 组件=版本，例如 cann-9.1.0,verl=0.9.1",
    ),
    "stack.component": (
        "a stack has no version of {name}; the nearest is {nearest} (known: {known})",
        "版本集（stack）中没有 {name}；最接近的是 {nearest}（已知：{known}）",
    ),
    "stack.component.far": (
        "a stack has no version of {name} (known: {known})",
        "版本集（stack）中没有 {name}（已知：{known}）",
    ),
    "stack.version": (
        "'{version}' is no version of {component}: a number with dots, such as 0.9.1, or main",
        "'{version}' 不是 {component} 的版本：应为以点分隔的数字（例如 0.9.1）或 main",
    ),
    "stack.verl_version": (
        "'{version}' is no version of verl: a number with dots, such as 0.9.1",
        "'{version}' 不是 verl 的版本：应为以点分隔的数字，例如 0.9.1",
    ),
    "stack.nothing": (
        "{changes} replaces versions of the job's stack, but the job names none: write the stack in front, as in "
        "cann-9.1.0,verl=0.9.1",
        "{changes} 用于替换作业版本集（stack）中的版本，但作业没有写版本集：请在前面写上版本集，"
        "例如 cann-9.1.0,verl=0.9.1",
    ),
    "stack.twice": (
        "the stack's {component} is replaced twice: give one version",
        "版本集（stack）的 {component} 被替换了两次：只写一个版本",
    ),
    "run.bad_name": (
        "{run} cannot name a run: lower-case letters, digits and '-', a letter or digit first",
        "{run} 不能作为运行名：只允许小写字母、数字和 '-'，且以字母或数字开头",
    ),
    "run.long_name": (
        "the run name {run} has {length} characters, at most {limit}: choose a shorter one with --run",
        "运行名 {run} 有 {length} 个字符，最多 {limit} 个：请用 --run 换一个更短的名字",
    ),
    "run.bad_attempt": (
        "attempts count from 1, not {attempt}",
        "尝试序号从 1 开始，不能是 {attempt}",
    ),
    "run.long_id": (
        "the submission id {name} has {length} characters, at most {limit}: choose a shorter run name with --run",
        "提交 ID {name} 有 {length} 个字符，最多 {limit} 个：请用 --run 换一个更短的运行名",
    ),
    "NR401": (
        "{name} makes the trainer fail at its start ({limit}): verl hands the variable on in its own ray.init, and Ray "
        'ends it with "Failed to merge the Job\'s runtime env", exit code 1',
        "{name} 会使训练器启动失败（{limit}）：verl 会在自己的 ray.init 中再次传递该变量，Ray 以 "
        '"Failed to merge the Job\'s runtime env" 报错，退出码 1',
    ),
    "NR401.fix": (
        "Take {name} out of env, or add RAY_OVERRIDE_JOB_RUNTIME_ENV: 1 to env: then verl's copy of it wins",
        "从 env 中去掉 {name}；或在 env 中加上 RAY_OVERRIDE_JOB_RUNTIME_ENV: 1，此时以 verl 传递的副本为准",
    ),
    "NR402": (
        "{name} makes the trainer fail at its start ({limit}): with this job's arguments verl sets it itself in "
        'ray.init, and Ray ends it with "Failed to merge the Job\'s runtime env", exit code 1',
        "{name} 会使训练器启动失败（{limit}）：在本作业的参数下，verl 会在 ray.init 中自行设置该变量，Ray 以 "
        '"Failed to merge the Job\'s runtime env" 报错，退出码 1',
    ),
    "NR402.fix": (
        "Take {name} out of env: verl gives it the value that it needs",
        "从 env 中去掉 {name}：verl 会设置它所需要的值",
    ),
    "NR403": (
        "the argument sets {name} in the runtime_env of ray.init, but the job sets it for every worker already: Ray "
        'ends the trainer with "Failed to merge the Job\'s runtime env"',
        "该参数在 ray.init 的 runtime_env 中设置 {name}，而作业已为所有 worker 设置了它：Ray 会以 "
        '"Failed to merge the Job\'s runtime env" 结束训练器',
    ),
    "NR403.fix": (
        "Drop the argument; a flag of your own belongs in env, which reaches every worker",
        "去掉该参数；自己的环境变量应写在 env 中，它会到达每个 worker",
    ),
    "NR404": (
        "the argument sets {name} in the runtime_env of ray.init, but the submission sets {name} already: Ray ends the "
        'trainer with "Failed to merge the Job\'s runtime env"',
        "该参数在 ray.init 的 runtime_env 中设置 {name}，而提交请求已设置 {name}：Ray 会以 "
        '"Failed to merge the Job\'s runtime env" 结束训练器',
    ),
    "NR404.fix": (
        "Drop the argument and use runtime_env of the job file (working_dir, pip)",
        "去掉该参数，改用作业文件的 runtime_env（working_dir、pip）",
    ),
    "NR411": (
        "{name} is a name that npurun sets itself: by NPURUN_… it recognises the processes of an attempt",
        "{name} 由 npurun 自行设置：npurun 通过 NPURUN_… 识别一次尝试的进程",
    ),
    "NR411.fix": ("Use a name that does not begin with NPURUN_", "请改用不以 NPURUN_ 开头的名字"),
    "NR412": (
        "{name}={value}: verl needs 1 on NPUs, else Ray narrows the visible devices and ranks open the wrong one",
        "{name}={value}：在 NPU 上 verl 需要 1，否则 Ray 会缩小可见设备范围，各 rank 会打开错误的设备",
    ),
    "NR412.fix": ("Drop the flag: npurun sets it to 1", "去掉该变量：npurun 会将其设为 1"),
    "NR413": (
        "{name}={value} is no whole number of at least {limit}: Ray would kill the driver before it has ended the "
        "trainer and freed the NPUs",
        "{name}={value} 不是至少 {limit} 的整数：Ray 会在驱动进程结束训练器、释放 NPU 之前将其杀死",
    ),
    "NR413.fix": ("Drop the flag, or give more than {limit}", "去掉该变量，或设为大于 {limit} 的值"),
    "NR414": (
        "{name}={value} would narrow every process on every node to the same devices; verl sets it for each rank",
        "{name}={value} 会把所有节点上的所有进程限制在相同的设备上；verl 会为每个 rank 单独设置",
    ),
    "NR414.fix": (
        "Drop the flag; cluster.npus_per_node says how many NPUs of a node are used",
        "去掉该变量；每个节点使用的 NPU 数由 cluster.npus_per_node 决定",
    ),
    "NR415": (
        "{name}={value} replaces the nodes' own: without Ray's Python in it the job stays pending for 15 min",
        "{name}={value} 会取代节点自身的值：若据此找不到 Ray 的 Python，作业会一直等待 15 分钟",
    ),
    "NR415.fix": (
        "Drop the flag; set it on the nodes before `ray start`",
        "去掉该变量；请在各节点执行 `ray start` 之前设置",
    ),
    "NR416": (
        "Ray fills a node's variables into {name}={value}: workers see another value, which ends the run at its proof",
        "Ray 会用各节点自身的变量替换 {name}={value} 中的引用：worker 看到的值会不同，验证会终止运行",
    ),
    "NR416.fix": (
        "Write the value out; what differs from node to node is set there before `ray start`",
        "请写出具体的值；各节点不同的值应在其上执行 `ray start` 之前设置",
    ),
    "NR421": (
        "{name}={value} is one node's address, but every node of the job would get it",
        "{name}={value} 是某一个节点的地址，但作业的所有节点都会得到它",
    ),
    "NR421.fix": (
        "Drop the flag; if the nodes need it, set it on each node before `ray start`",
        "去掉该变量；如节点确有需要，请在各节点执行 `ray start` 之前分别设置",
    ),
    "NR422": (
        "{name}={value} would give every process of the job the same rank or rank table; the launcher sets ranks",
        "{name}={value} 会使作业的所有进程得到相同的 rank 或 rank table；rank 由启动器设置",
    ),
    "NR422.fix": ("Drop the flag", "去掉该变量"),
    "NR423": (
        "{name}={value}: a node whose network interface has another name cannot connect",
        "{name}={value}：网卡名称不同的节点将无法建立连接",
    ),
    "NR423.fix": (
        "Make sure that all nodes name it so, or set the flag on each node before `ray start`",
        "请确认所有节点的网卡都叫这个名字，或在各节点执行 `ray start` 之前分别设置",
    ),
    "NR424": (
        "{name}={value} names the cores of one server; on a node of another topology the binding is wrong",
        "{name}={value} 写明了某台服务器的核编号；在拓扑不同的节点上绑核会出错",
    ),
    "NR424.fix": ("Give the mode alone (1 or 2)", "只写模式（1 或 2）"),
    "NR431": (
        "the value of {name} looks like a secret: a submission shows it to whoever can reach the Ray cluster",
        "{name} 的值看起来是密钥：提交后，任何能访问 Ray 集群的人都能看到它",
    ),
    "NR431.fix": (
        "Name a reference instead, secrets: {{NAME: {{file: /path/on/the/nodes}}}} or {{NAME: {{env: VARIABLE}}}}, and "
        "change the secret if it was ever submitted",
        "改用引用：secrets: {{NAME: {{file: /节点上的路径}}}} 或 {{NAME: {{env: 变量名}}}}；"
        "如果该密钥曾经提交过，请更换它",
    ),
    "NR432": (
        "{name} is both a secret and a flag in env",
        "{name} 既在 secrets 中，又是 env 中的变量",
    ),
    "NR432.fix": ("Keep it under secrets only", "只保留 secrets 中的那一个"),
    "NR441": ("the working_dir {value} is not a folder", "working_dir {value} 不是一个目录"),
    "NR441.fix": (
        "Name an existing folder on this machine, or leave runtime_env.working_dir out",
        "请填写本机上存在的目录，或去掉 runtime_env.working_dir",
    ),
    "NR442": (
        "the working_dir {folder} has {value}, at most {limit}; its largest: {largest}",
        "working_dir {folder} 有 {value}，最多 {limit}；其中最大的是：{largest}",
    ),
    "NR442.files": ("{count} files", "{count} 个文件"),
    "NR443.circle": (
        "a link to a folder that holds it: Ray would pack that again and again",
        "它是指向自身上级目录的链接：Ray 会反复打包",
    ),
    "NR443.no_file": ("a pipe or a device, not a file", "它是管道或设备，不是文件"),
    "NR444.empty": ('a pattern is empty, such as "!" alone', "有空的规则，例如单独的 “!”"),
    "NR442.fix": (
        "Name what is not needed in runtime_env.excludes, .rayignore or .gitignore; data and models belong on storage "
        "that the nodes share",
        "把不需要的内容写入 runtime_env.excludes、.rayignore 或 .gitignore；数据和模型应放在各节点的共享存储上",
    ),
    "NR443": (
        "the working_dir {value} cannot be measured: {path}: {why}",
        "无法测量 working_dir {value} 的大小：{path}：{why}",
    ),
    "NR443.fix": (
        "Make it readable, or name it in runtime_env.excludes",
        "请使其可读，或将其写入 runtime_env.excludes",
    ),
    "NR444": (
        "what is to be left out of the working_dir {value} cannot be understood: {why}",
        "无法理解 working_dir {value} 的排除规则：{why}",
    ),
    "NR444.fix": (
        "Correct runtime_env.excludes and the folder's .gitignore and .rayignore files: UTF-8 text, a pattern a line",
        "请修正 runtime_env.excludes 以及该目录的 .gitignore 和 .rayignore：UTF-8 文本，每行一个模式",
    ),
    "NR445": (
        "{value} in the working_dir hides a module of Python or of Ray's needs: Ray's own processes import it in that "
        "one's place, and the run can stay pending for 15 min",
        "working_dir 中的 {value} 会遮蔽 Python 自带或 Ray 依赖的模块：Ray 自身的进程会误导入它，运行可能等待 15 分钟",
    ),
    "NR445.fix": (
        "Rename it, move it into a package, or name it in runtime_env.excludes",
        "请将其改名、移入某个包，或写入 runtime_env.excludes",
    ),
}
