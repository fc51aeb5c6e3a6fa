"""Texts of the checks of flags: id -> (English, Chinese). An `.about` begins with its title."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR451": (
        "nothing reads {name} on this job's stack, {limit}: {reader} {until} was the last to do so, it is gone "
        "from {gone}",
        "在本作业的版本集（stack，{limit}）上没有程序读取 {name}：{reader} {until} 是最后读取它的版本，{gone} 中已移除",
    ),
    "NR451.fix": (
        "Drop the flag; what does the same: {successor}",
        "去掉该变量；作用相同的是：{successor}",
    ),
    "NR451.about": (
        "A flag that has a successor, and that nothing reads on the job's stack. Flags of vllm-ascend come and go with "
        "its releases, and a dead one is ignored without a word: what it asked for does not happen. No problem where "
        "the same job also runs on an older stack, which still reads the flag.",
        "已有替代项、且在作业的版本集（stack）上没有程序读取的变量。"
        "vllm-ascend 的变量随版本增减，失效的变量会被静默忽略："
        "它所要求的行为不会发生。同一作业还要在仍读取该变量的旧版本集上运行时，没有问题。",
    ),
    "NR451.unknown": (
        "the job names no stack, and only its versions tell whether these are read: {names}; add stack to the job",
        "作业没有写 stack，而是否读取以下变量取决于版本：{names}；请在作业中加上 stack",
    ),
    "NR452": (
        "nothing reads {name} on this job's stack, {limit}: {reader} {until} was the last to do so, it is gone "
        "from {gone}",
        "在本作业的版本集（stack，{limit}）上没有程序读取 {name}：{reader} {until} 是最后读取它的版本，{gone} 中已移除",
    ),
    "NR452.fix": (
        "Drop the flag; no successor is known",
        "去掉该变量；没有已知的替代项",
    ),
    "NR452.about": (
        "A flag without a known successor that nothing reads on the job's stack. What it switched is gone, or is "
        "always on. No problem where the same job also runs on a stack whose versions read it.",
        "没有已知替代项、且在作业的版本集（stack）上没有程序读取的变量。它所控制的功能已移除，或已总是开启。"
        "同一作业还要在读取该变量的版本集上运行时，没有问题。",
    ),
    "NR453": (
        "{name} has no effect: no version of vLLM, vllm-ascend, verl, torch_npu or HCCL that is known reads it on NPUs",
        "{name} 不起作用：在 NPU 上，已知的 vLLM、vllm-ascend、verl、torch_npu、HCCL 版本都不读取它",
    ),
    "NR453.fix": ("{hint}", "{hint}"),
    "NR453.drop": ("Drop the flag", "去掉该变量"),
    "NR453.use": (
        "Drop the flag; what serves instead: {successor}",
        "去掉该变量；可代替它的是：{successor}",
    ),
    "NR453.about": (
        "A flag that nothing reads on NPUs. Some names are read for CUDA devices only, some were seen in documents and "
        "have no reader. No problem where your own code reads it, as a reward function or a plug-in.",
        "在 NPU 上没有程序读取的变量。有些只对 CUDA 设备有效，有些只见于文档而没有读取者。"
        "如果是您自己的代码（例如奖励函数或插件）读取它，则没有问题。",
    ),
    "NR454": (
        "{name} is read, but replaced since {since}: a later version reads only its successor, {successor}",
        "{name} 仍会被读取，但自 {since} 起已有替代项：之后的版本只读取 {successor}",
    ),
    "NR454.fix": (
        "Use {successor} in its place",
        "请改用 {successor}",
    ),
    "NR454.about": (
        "A flag that still works and has a successor on the job's stack. vllm-ascend moves its variables into "
        "additional_config and says that they will be removed. No problem until the stack is updated.",
        "仍然有效、但在作业的版本集（stack）上已有替代项的变量。vllm-ascend 正在把环境变量迁移到 additional_config，"
        "并声明将移除它们。在升级版本集之前没有问题。",
    ),
    "NR455": (
        "{name}='{value}' is no whole number: {reader} reads it with int(), which ends the process with ValueError",
        "{name}='{value}' 不是整数：{reader} 用 int() 读取它，进程会以 ValueError 结束",
    ),
    "NR455.fix": (
        "Write a whole number; 1 and 0 for on and off",
        "请写整数；1 表示开启，0 表示关闭",
    ),
    "NR455.about": (
        "A value that its reader cannot parse. vLLM and vllm-ascend read most of their switches with int(): true, "
        "False and an empty text raise ValueError, in each worker and long after the start.",
        "读取者无法解析的值。vLLM 和 vllm-ascend 的多数开关用 int() 读取："
        "true、False 以及空文本都会在每个 worker 中、"
        "在启动很久之后引发 ValueError。",
    ),
    "NR456": (
        "{name}='{value}' is none of the values that {reader} knows ({limit})",
        "{name}='{value}' 不是 {reader} 所支持的值（{limit}）",
    ),
    "NR456.fix": (
        "Choose one of {limit}",
        "请从 {limit} 中选择",
    ),
    "NR456.about": (
        "A value outside of what the reader takes. torch_npu ends with an error for some variables; others take any "
        "word as 0, or any word but true as off, and the job runs without what was asked for.",
        "读取者不支持的值。对某些变量，torch_npu 会报错退出；另一些变量把任何单词都当作 0，"
        "或把 true 以外的值都当作关闭，作业会在没有该功能的情况下运行。",
    ),
    "NR457": (
        "no known program reads {name}; {nearest} is very like it",
        "没有已知程序读取 {name}；与它非常相似的是 {nearest}",
    ),
    "NR457.fix": (
        "Write {nearest} if that is meant",
        "如果想写的是 {nearest}，请更正",
    ),
    "NR457.about": (
        "A name that is one or two letters from a real one. A misspelt variable is ignored without a word. No problem "
        "where your own code reads this very name.",
        "与真实名字只差一两个字母的名字。拼错的变量会被静默忽略。如果是您自己的代码读取这个名字，则没有问题。",
    ),
    "NR458": (
        "{name} is a variable of example scripts: no process of the training reads it",
        "{name} 是示例脚本自身的变量：训练进程不读取它",
    ),
    "NR458.fix": (
        "Put what it stands for into arguments, or drop it; a value used in several places belongs under variables",
        "请把它所代表的内容写进 arguments，或去掉它；多处使用的值应写在 variables 中",
    ),
    "NR458.about": (
        "A variable with which verl's example scripts build their command line. In a job's env it reaches the workers "
        "and does nothing there. No problem where your own code reads it.",
        "verl 示例脚本用来拼接命令行的变量。写在作业的 env 中时，它会到达 worker，但不起作用。"
        "如果是您自己的代码读取它，则没有问题。",
    ),
    "NR459": (
        "{name}={value} and {other} exclude each other: only one of them takes effect",
        "{name}={value} 与 {other} 互相排斥：只有其中一个生效",
    ),
    "NR459.fix": (
        "Keep the one that you want",
        "请只保留所需的一个",
    ),
    "NR459.about": (
        "Two flags that exclude each other. ASCEND_LAUNCH_BLOCKING turns the task queue off; HCCL takes PCIe or RoCE "
        "inside a server; fused MC2 does not work with dynamic expert balancing; a newer torch_npu refuses two "
        "allocator variables.",
        "互相排斥的两个变量。ASCEND_LAUNCH_BLOCKING 会关闭任务队列；HCCL 在服务器内使用 PCIe 或 RoCE 之一；"
        "融合 MC2 不支持专家的动态均衡；较新的 torch_npu 拒绝同时设置两个分配器变量。",
    ),
    "NR460": (
        "{name}={value}: torch_npu refuses {limit} together with expandable_segments:True, at the first allocation",
        "{name}={value}：torch_npu 拒绝将 {limit} 与 expandable_segments:True 同时使用，首次分配内存时即报错",
    ),
    "NR460.fix": (
        "Drop {limit}, or expandable_segments",
        "去掉 {limit}，或去掉 expandable_segments",
    ),
    "NR460.about": (
        "Allocator options that exclude each other. Expandable segments do not fragment, so torch_npu takes neither a "
        "largest split nor a threshold of garbage collection with them, and ends with an error.",
        "互相排斥的分配器选项。可扩展段不会产生碎片，"
        "因此 torch_npu 不接受与它同时设置的切分上限或垃圾回收阈值，会报错退出。",
    ),
    "NR461": (
        "{name}={value} comes too late: Ray reads it where `ray start` runs, before any job",
        "{name}={value} 设置得太晚：Ray 在执行 `ray start` 时读取它，早于任何作业",
    ),
    "NR461.fix": (
        "Set it on the nodes before `ray start`, and drop it here",
        "请在各节点执行 `ray start` 之前设置，并从作业中去掉",
    ),
    "NR461.about": (
        "A variable of Ray's own daemons. The raylets and the head read it once, when they start; a job's env reaches "
        "only the processes of the job. No problem where the nodes have the same value already.",
        "Ray 自身守护进程的变量。raylet 与 head 只在启动时读取一次；作业的 env 只到达该作业的进程。"
        "如果各节点已有相同的值，则没有问题。",
    ),
    "NR462": (
        "{name}={value} is read when a package is built, not when it runs",
        "{name}={value} 在编译软件包时读取，运行时不读取",
    ),
    "NR462.fix": (
        "Drop the flag; set it where the image is built",
        "去掉该变量；请在构建镜像时设置",
    ),
    "NR462.about": (
        "A variable of builds. It decides how vLLM or vllm-ascend is compiled and changes nothing once installed.",
        "编译时的变量。它决定 vLLM 或 vllm-ascend 如何编译，对已安装的软件没有影响。",
    ),
    "NR467": (
        "nothing reads {name} on this job's stack, {limit}: {reader} does so since {since}",
        "在本作业的版本集（stack，{limit}）上没有程序读取 {name}：{reader} 自 {since} 起才读取它",
    ),
    "NR467.fix": (
        "Drop the flag, or take {reader} {since} or later",
        "去掉该变量，或使用 {reader} {since} 或更高版本",
    ),
    "NR467.about": (
        "A flag that is newer than the job's stack. What reads it came with a later version, and this one ignores it "
        "without a word. No problem where the same job also runs on a newer stack.",
        "比作业的版本集（stack）更新的变量。读取它的代码出现在之后的版本中，当前版本会静默忽略它。"
        "同一作业还要在更新的版本集上运行时，没有问题。",
    ),
    "NR463": (
        "{component} {version} with sleep mode inside verl: its sleep does not give the rollout's memory back, and "
        "training runs out of it (mended in {limit})",
        "{component} {version} 在 verl 中使用 sleep mode："
        "sleep 不会释放 rollout 的显存，训练会因此内存不足（{limit} 已修复）",
    ),
    "NR463.fix": (
        "Take {component} {limit} or later",
        "请使用 {component} {limit} 或更高版本",
    ),
    "NR463.about": (
        "A version whose sleep mode keeps the memory. verl puts the rollout to sleep while it trains; vllm-ascend "
        "0.8.4 leaves the memory taken. No problem with rollout.free_cache_engine=False.",
        "sleep mode 不释放显存的版本。verl 训练时会让 rollout 休眠，而 vllm-ascend 0.8.4 仍占用显存。"
        "设置 rollout.free_cache_engine=False 时没有问题。",
    ),
    "NR464": (
        "{component} {version} with data and expert parallelism of the rollout: reported to fail on NPUs (mended by "
        "{limit})",
        "{component} {version} 的 rollout 同时使用数据并行与专家并行：有报告称在 NPU 上会失败（{limit} 已修复）",
    ),
    "NR464.fix": (
        "Take {component} {limit} or later, or set rollout.data_parallel_size=1",
        "请使用 {component} {limit} 或更高版本，或设置 rollout.data_parallel_size=1",
    ),
    "NR464.about": (
        "A version that fails with DP and EP. verl's rollout with both was reported to fail on the release candidates "
        "of vllm-ascend 0.11.0. No problem with one of the two.",
        "同时使用 DP 与 EP 会失败的版本。"
        "有报告称 verl 的 rollout 在 vllm-ascend 0.11.0 的候选版本上同时使用两者会失败。"
        "只使用其中之一时没有问题。",
    ),
    "NR465": (
        "{component} {version} with n={value}: host memory grows with each generation until the node runs out of it "
        "(mended in {limit})",
        "{component} {version} 且 n={value}：每次生成都会增加主机内存，直到节点耗尽（{limit} 已修复）",
    ),
    "NR465.fix": (
        "Take {component} {limit} or later",
        "请使用 {component} {limit} 或更高版本",
    ),
    "NR465.about": (
        "A version that leaks host memory. vLLM 0.7 keeps what it made for several answers to a prompt, and the "
        "kernel ends a worker after hours. No problem with n=1.",
        "主机内存泄漏的版本。vLLM 0.7 在每个提示有多个回答时会保留中间内容，"
        "数小时后内核会杀死 worker。n=1 时没有问题。",
    ),
    "NR466": (
        "{name}={value} on vllm-ascend {version}: vLLM calls NPUs experimental there and falls back to the V0 engine",
        "vllm-ascend {version} 上的 {name}={value}：vLLM 将 NPU 视为实验性支持，会回退到 V0 引擎",
    ),
    "NR466.fix": (
        "Take vllm-ascend {limit} or later, or drop the flag",
        "请使用 vllm-ascend {limit} 或更高版本，或去掉该变量",
    ),
    "NR466.about": (
        "An engine that is not the one asked for. Before 0.9.1 the V1 engine on NPUs was experimental: the request is "
        "answered with a log line and V0. No problem where V0 does.",
        "实际引擎与所要求的不同。0.9.1 之前 NPU 上的 V1 引擎是实验性的：请求只会得到一行日志，并使用 V0。"
        "如果 V0 可用，则没有问题。",
    ),
    "NR468": (
        "{name}={value}, but the rollout sleeps between steps: when it wakes, vllm-ascend ends with "
        '"FRACTAL_NZ mode is enabled"',
        '{name}={value}，而 rollout 在各步之间会休眠：唤醒时 vllm-ascend 会以 "FRACTAL_NZ mode is enabled" 结束',
    ),
    "NR468.fix": (
        "Set {name} to 0, or drop it: verl's rollout sets 0 itself",
        "将 {name} 设为 0，或去掉它：verl 的 rollout 会自行设为 0",
    ),
    "NR468.about": (
        "Weights in FRACTAL_NZ form with a rollout that sleeps. Training writes new weights into the rollout in each "
        "step, which that form does not allow, so waking up is refused. No problem with "
        "rollout.free_cache_engine=False, or with rl_config.enabled in additional_config.",
        "rollout 会休眠时权重采用 FRACTAL_NZ 格式。训练每一步都会把新权重写入 rollout，该格式不允许，因此唤醒会被拒绝。"
        "设置 rollout.free_cache_engine=False，或在 additional_config 中启用 rl_config.enabled 时没有问题。",
    ),
    "NR469": (
        "{name}={value}: {why}",
        "{name}={value}：{why}",
    ),
    "NR469.option": ("there is no option {option}", "没有选项 {option}"),
    "NR469.no_value": ("{option} has no value", "{option} 没有值"),
    "NR469.bad_value": ("{option} takes {wanted}, not {given}", "{option} 的取值为 {wanted}，而不是 {given}"),
    "NR469.threads": (
        "this is no number of threads, so OpenMP leaves it aside",
        "这不是线程数，OpenMP 会忽略它",
    ),
    "NR469.level": (
        "Python's logging has no such level, and verl ends with it when it is imported",
        "Python 的 logging 没有这个级别，导入 verl 时即报错",
    ),
    "NR469.fix": ("{do}", "{do}"),
    "NR469.do_allocator": (
        "Write option:value, several parted by commas, such as expandable_segments:True; the options are {known}",
        "请写成 OPTION:VALUE，多个以逗号分隔，例如 expandable_segments:True；可用选项：{known}",
    ),
    "NR469.do_affinity": (
        "Write the mode (0, 1 or 2) first, then cores if need be: 1,npu0:0-23",
        "请先写模式（0、1 或 2），需要时再写核区间：1,npu0:0-23",
    ),
    "NR469.do_threads": ("Write a whole number of at least 1", "请写不小于 1 的整数"),
    "NR469.do_level": ("Write one of {known}, in capitals", "请写 {known} 之一，使用大写"),
    "NR469.about": (
        "Flags whose value has a form of its own. They are the options of torch_npu's allocator, the binding of CPU "
        "cores, the threads of OpenMP, verl's log level. torch_npu ends at its first allocation "
        "with an option that it does not know or a True in small letters; "
        "verl ends at its import with an unknown level. The others leave aside what "
        "they cannot read, which is a warning.",
        "取值有固定格式的环境变量。包括 torch_npu 分配器的选项、CPU 绑核、OpenMP 线程数、verl 的日志级别。"
        "遇到未知选项或小写的 true 时，torch_npu 在首次分配内存时报错；级别未知时，verl 在导入时报错。"
        "其余变量会忽略无法解析的内容，仅为警告。",
    ),
}
