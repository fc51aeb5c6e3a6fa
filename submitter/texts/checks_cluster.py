"""Texts of the rules on launcher and cluster shape (NR381 to NR398): id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR381": (
        "launcher torchrun would start {value} {limit} times, and each one starts Ray and wants all NPUs for itself",
        "torchrun 启动器会启动 {limit} 个 {value}，而每一个都会启动 Ray 并要求独占所有 NPU",
    ),
    "NR381.fix": (
        "Set trainer.launcher: ray; torchrun is for trainers without Ray, as verl.trainer.sft_trainer",
        "请设置 trainer.launcher: ray；torchrun 用于不使用 Ray 的训练器，例如 verl.trainer.sft_trainer",
    ),
    "NR381.about": (
        "Modules that start Ray, under torchrun. verl's reinforcement learning trainers are one driver that places its "
        "workers by Ray; one driver a rank competes for the same NPUs and none gets them. Modules of your own are not "
        "looked into.",
        "在 torchrun 下运行会启动 Ray 的模块。verl 的强化学习训练器是一个驱动进程，由 Ray 放置工作进程；"
        "每个 rank 一个驱动会争抢相同的 NPU，谁也得不到。不检查自定义模块的内容。",
    ),
    "NR382": (
        'launcher {value} starts one process of {limit}, which wants the ranks that torchrun sets ("RANK expected, but '
        'not set")',
        "{value} 启动器只启动一个 {limit} 进程，而它需要 torchrun 设置的 rank（“RANK expected, but not set”）",
    ),
    "NR382.fix": (
        "Set trainer.launcher: torchrun, or take verl.trainer.sft_trainer_ray",
        "请设置 trainer.launcher: torchrun，或改用 verl.trainer.sft_trainer_ray",
    ),
    "NR382.about": (
        "Trainers for torchrun, under launcher ray. They join a process group as their first step and read RANK, "
        "LOCAL_RANK and WORLD_SIZE, which nobody sets for a plain process.",
        "在 ray 启动器下运行 torchrun 的训练器。它们首先加入进程组，并读取 RANK、LOCAL_RANK 和 WORLD_SIZE，"
        "而普通进程没有这些变量。",
    ),
    "NR383": (
        "{verl} cannot run {value}: it has no such entry point",
        "{verl} 无法运行 {value}：它没有这个入口",
    ),
    "NR383.fix": (
        "Use {successor}, or the stack whose verl has the module",
        "请使用 {successor}，或使用包含该模块的 verl 版本",
    ),
    "NR383.about": (
        "verl's entry points by release. Trainers move: main_ppo_sync is in 0.8.0 alone, fsdp_sft_trainer ended before "
        "0.7.1, and main_ppo_v0 is imported but does nothing when it is run. A module of verl's that no known release "
        "has is misspelt; it is a warning where the job's verl is unknown or installed by the job. Modules that the "
        "working_dir brings are not told.",
        "各版本 verl 的入口模块。训练器会变动：main_ppo_sync 只在 0.8.0 中，fsdp_sft_trainer 在 0.7.1 之前已移除，"
        "main_ppo_v0 只供导入，直接运行什么也不做。任何已知版本都没有的 verl 模块是拼写错误；"
        "如果作业的 verl 版本未知或由作业安装，则为警告。working_dir 中带来的模块不会提示。",
    ),
    "NR384": (
        "the working_dir {value} has a package verl: every worker imports it in place of the installed {verl}",
        "working_dir {value} 中有 verl 包：所有工作进程会导入它，而不是已安装的 {verl}",
    ),
    "NR384.fix": (
        "Leave it out by runtime_env.excludes, or mean it: then the checks for {verl} may not fit",
        "请用 runtime_env.excludes 排除它；如果是有意为之，则针对 {verl} 的检查可能不适用",
    ),
    "NR384.about": (
        "A copy of verl in the working_dir. The working_dir comes first on the import path of all workers, so a clone "
        "of verl's repository runs instead of the installed release. It is no problem when that is what you want.",
        "working_dir 中的 verl 副本。working_dir 在所有工作进程的导入路径中排在最前，因此运行的是克隆的仓库，"
        "而不是已安装的版本。如果这正是您想要的，则没有问题。",
    ),
    "NR385": (
        "{value} is in no release of verl, and {where}",
        "{value} 不在任何 verl 发行版中，{where}",
    ),
    "NR385.folder": (
        "not in the job's working_dir {folder}",
        "也不在作业的 working_dir（{folder}）中",
    ),
    "NR385.none": (
        "the job has no working_dir that could bring it",
        "作业也没有可以带来它的 working_dir",
    ),
    "NR385.fix": ("{do}", "{do}"),
    "NR385.recipe": (
        "Put verl's recipe repository into runtime_env.working_dir, or make sure that every node can import it",
        "请将 verl 的 recipe 仓库放入 runtime_env.working_dir，或确认每个节点都能导入它",
    ),
    "NR385.verl": (
        "Use {successor}, or put the module into runtime_env.working_dir",
        "请使用 {successor}，或将该模块放入 runtime_env.working_dir",
    ),
    "NR385.own": (
        "Put the module into runtime_env.working_dir, or make sure that every node can import it",
        "请将该模块放入 runtime_env.working_dir，或确认每个节点都能导入它",
    ),
    "NR385.about": (
        "Modules that have to come from somewhere: your own, and verl's recipes, which are a repository of their own. "
        "The packages of verl do not hold them, so they travel with the job or are installed on every node. It is no "
        "problem where the nodes have the module; modules of well-known packages are not told.",
        "需要另行提供的模块：自定义模块，以及作为单独仓库的 verl recipe。verl 的安装包中不包含它们，"
        "因此必须随作业发送，或安装在每个节点上。如果节点上已有该模块，则没有问题；常见软件包的模块不会提示。",
    ),
    "NR386": (
        "torchrun starts {value} processes a node, and the job takes {limit} NPUs a node",
        "torchrun 每个节点启动 {value} 个进程，而作业每个节点占用 {limit} 个 NPU",
    ),
    "NR386.fix": (
        "Leave trainer.torchrun.nproc_per_node out: it is cluster.npus_per_node then",
        "请去掉 trainer.torchrun.nproc_per_node：此时它等于 cluster.npus_per_node",
    ),
    "NR386.about": (
        "Processes against NPUs of a node. Each process takes the NPU of its local rank: with more processes some find "
        "none, with fewer some NPUs stay idle while the job holds them.",
        "每个节点的进程数与 NPU 数。每个进程使用与其本地 rank 对应的 NPU：进程多了有的找不到 NPU，"
        "少了则有 NPU 被占用却空闲。",
    ),
    "NR387": (
        "master_addr {value} means each node itself, so the {limit} nodes never meet",
        "master_addr {value} 指向每个节点自身，因此 {limit} 个节点无法汇合",
    ),
    "NR387.fix": (
        "Leave trainer.torchrun.master_addr out: npurun takes the first node's address",
        "请去掉 trainer.torchrun.master_addr：npurun 会使用第一个节点的地址",
    ),
    "NR387.about": (
        "The address where torchrun's processes meet. A loopback or wildcard address is another one on each node. It "
        "is fine on a single node.",
        "torchrun 各进程汇合的地址。回环地址或通配地址在每个节点上各不相同。单节点时没有问题。",
    ),
    "NR388": (
        "master_port {value} may be refused or taken: ports below 1024 need privileges, and those from 32768 on are "
        "given to any connection (HCCL uses 60000 to 60015)",
        "master_port {value} 可能被拒绝或占用：1024 以下的端口需要特权，32768 以上的端口会分配给任意连接"
        "（HCCL 使用 60000 到 60015）",
    ),
    "NR388.fix": (
        "Choose one within {limit}, or leave it out: npurun finds a free one on the first node",
        "请在 {limit} 中选择，或去掉它：npurun 会在第一个节点上找到空闲端口",
    ),
    "NR388.about": (
        "The port where torchrun's processes meet. Another connection may hold a port of the kernel's own range at the "
        "moment of the start, so the same job fails now and then. Hosts with another ip_local_port_range differ.",
        "torchrun 各进程汇合的端口。启动时，内核自动分配范围内的端口可能正被其他连接占用，因此同一作业会偶尔失败。"
        "ip_local_port_range 不同的主机会有差异。",
    ),
    "NR389": (
        "the flag {name}={value} is not looked at: torchrun gets its rendezvous from trainer.torchrun and the cluster",
        "环境变量 {name}={value} 不起作用：torchrun 的汇合信息来自 trainer.torchrun 和集群",
    ),
    "NR389.fix": (
        "Drop the flag; a fixed address or port is trainer.torchrun.master_addr and master_port",
        "请去掉该变量；固定的地址或端口请写在 trainer.torchrun.master_addr 和 master_port 中",
    ),
    "NR389.about": (
        "Rendezvous facts in the environment. Scripts for torchrun read MASTER_PORT, NNODES and NPROC_PER_NODE; here "
        "the launcher passes them as options, and torchrun sets its own MASTER_PORT for the ranks.",
        "环境变量中的汇合信息。torchrun 脚本会读取 MASTER_PORT、NNODES 和 NPROC_PER_NODE；"
        "此处由启动器以选项传入，torchrun 会为各 rank 设置自己的 MASTER_PORT。",
    ),
    "NR390": (
        "trainer.script {value} is relative to the working_dir, and {where}",
        "trainer.script {value} 是相对于 working_dir 的路径，{where}",
    ),
    "NR390.fix": (
        "Put the file into runtime_env.working_dir, or write its absolute path on the nodes",
        "请将该文件放入 runtime_env.working_dir，或写出它在节点上的绝对路径",
    ),
    "NR390.about": (
        "The file that trainer.script names. A relative path belongs to the working_dir that travels with the job: "
        "without it Python ends with “can't open file”. Excluded files do not travel. Absolute paths are not looked "
        "at.",
        "trainer.script 指定的文件。相对路径属于随作业发送的 working_dir：缺少该文件时 Python 会报"
        "“can't open file”并退出。被排除的文件不会发送；绝对路径不检查。",
    ),
    "NR391": (
        "the trainer asks for {pools} = {total} NPUs, which do not fit into the job's nodes: {limit}",
        "训练器要求 {pools} = {total} 个 NPU，作业的节点放不下：{limit}",
    ),
    "NR391.fix": (
        "Raise cluster.nodes or cluster.npus_per_node, or ask for less; every pool takes whole bundles on nodes of its "
        "own choice",
        "请增大 cluster.nodes 或 cluster.npus_per_node，或减少要求；每个资源池都按节点占用整个 bundle",
    ),
    "NR391.about": (
        "The trainer's resource pools against the nodes that the job reserves. They are the trainer, a rollout with "
        "nodes "
        "of its own, a reward model with a pool of its own, a teacher. Plain verl waits without a word for a pool "
        "that has no "
        "room; npurun refuses it. The pools are placed here as the job's driver would.",
        "训练器的资源池与作业预留节点的对照。资源池包括训练器、独立节点的 rollout、独立资源池的奖励模型、教师模型。"
        "单独使用 verl 时，放不下的资源池会一直无声等待；npurun 会拒绝。此处按作业驱动的方式放置各资源池。",
    ),
    "NR392": (
        "{idle} NPUs stay idle: the trainer asks for {pools} = {total}, the job reserves {limit}",
        "有 {idle} 个 NPU 空闲：训练器要求 {pools} = {total}，作业预留 {limit}",
    ),
    "NR392.fix": (
        "Set trainer.nnodes and trainer.n_gpus_per_node from the same variables as cluster.nodes and "
        "cluster.npus_per_node",
        "请让 trainer.nnodes、trainer.n_gpus_per_node 与 cluster.nodes、cluster.npus_per_node 使用相同的变量",
    ),
    "NR392.about": (
        "NPUs that the job holds and nobody uses. verl takes trainer.nnodes × trainer.n_gpus_per_node, whose defaults "
        "are 1 × 8, and pools of their own where they are set. The rest is kept from other jobs all the same.",
        "作业占用而无人使用的 NPU。verl 使用 trainer.nnodes × trainer.n_gpus_per_node，默认为 1 × 8，"
        "以及另行设置的资源池。其余的 NPU 同样不能被其他作业使用。",
    ),
    "NR393": (
        "{value} NPUs a node is unusual: Ascend servers have 8 (A2) or 16 (A3)",
        "每个节点 {value} 个 NPU 不常见：昇腾服务器有 8 个（A2）或 16 个（A3）",
    ),
    "NR393.fix": ("Set cluster.npus_per_node to one of {limit}", "请将 cluster.npus_per_node 设为 {limit} 之一"),
    "NR393.about": (
        "The number of NPUs of a node. Whole A2 servers have 8, A3 servers 16, and parts of them are powers of two, "
        "which tensor parallel groups want as well. Other numbers work where the hardware has them.",
        "每个节点的 NPU 数。整台 A2 服务器有 8 个，A3 有 16 个，部分使用时是 2 的幂，张量并行组也需要如此。"
        "如果硬件确实如此，其他数量也可以工作。",
    ),
    "NR394": (
        "{value}: Ray was started with GPU ({found} in all) and no NPU, so only the GPU key is there and nothing that "
        "asks for NPU can be placed",
        "{value}：启动 Ray 时注册的是 GPU（共 {found} 个）而没有 NPU，因此任何要求 NPU 的任务都无法放置",
    ),
    "NR394.fix": (
        "Restart Ray on these nodes without --num-gpus, e.g. ray start --resources='{{\"NPU\": {npus}}}'",
        "请在这些节点上重启 Ray，不要使用 --num-gpus，例如 ray start --resources='{{\"NPU\": {npus}}}'",
    ),
    "NR394.about": (
        "Nodes that register GPUs in place of NPUs. Old tutorials start Ray with --num-gpus on Ascend hosts; verl and "
        'vLLM-Ascend ask for the resource NPU and wait for ever, or stop at "Current node has no NPU available". '
        "It is told only when too few nodes with NPUs are left.",
        "注册了 GPU 而不是 NPU 的节点。旧教程在昇腾主机上用 --num-gpus 启动 Ray；verl 和 vLLM-Ascend 要求 NPU 资源，"
        "会一直等待，或停在“Current node has no NPU available”。只有在剩余的 NPU 节点不足时才提示。",
    ),
    "NR395": (
        "{found} live node(s) carry the labels {value}, {limit} are wanted; {seen}",
        "带有标签 {value} 的存活节点有 {found} 个，需要 {limit} 个；{seen}",
    ),
    "NR395.seen": ("labels of these names in the cluster: {labels}", "集群中这些名称的标签有：{labels}"),
    "NR395.none": ("no node has labels of these names", "没有节点带有这些名称的标签"),
    "NR395.fix": (
        "Correct cluster.labels, or start Ray on the nodes with ray start --labels",
        "请更正 cluster.labels，或在节点上用 ray start --labels 启动 Ray",
    ),
    "NR395.about": (
        "The labels that the job wants of its nodes, against those of the live cluster. Nodes without them are never "
        "taken, so the job would wait until cluster.place_wait_s is over. A cluster that still grows may get there.",
        "作业要求的节点标签与存活集群的对照。没有这些标签的节点不会被选用，因此作业会一直等到 cluster.place_wait_s "
        "结束。"
        "仍在扩容的集群之后可能满足要求。",
    ),
    "NR396": (
        "{found} live node(s) have {npus} NPUs or more, {limit} are wanted; the cluster: {shape}",
        "有 {npus} 个或更多 NPU 的存活节点有 {found} 个，需要 {limit} 个；集群：{shape}",
    ),
    "NR396.empty": ("no live node", "没有存活的节点"),
    "NR396.fix": (
        "Lower cluster.nodes or cluster.npus_per_node, or add nodes whose Ray registers NPU "
        "(ray start --resources='{{\"NPU\": {npus}}}' where it does not count them itself)",
        "请减小 cluster.nodes 或 cluster.npus_per_node，或添加注册了 NPU 的节点"
        "（Ray 未自动识别时使用 ray start --resources='{{\"NPU\": {npus}}}'）",
    ),
    "NR396.unknown": (
        "no cluster was asked, so its nodes, NPUs, CPUs and labels are not known. Give --address http://<head>:8265",
        "未查询集群，因此不知道它的节点、NPU、CPU 和标签。请给出 --address http://<head>:8265",
    ),
    "NR396.about": (
        "Nodes and NPUs of the live cluster. What a node has in total counts, not what is free: busy NPUs come back. A "
        "sum over many small nodes does not help, since a bundle cannot be split. A cluster that still grows may get "
        "there.",
        "存活集群的节点和 NPU。按节点的总量计算，而不是空闲量：被占用的 NPU 会释放。许多小节点的总和没有用，"
        "因为 bundle 不能拆分。仍在扩容的集群之后可能满足要求。",
    ),
    "NR397": (
        "{value}: {npus} NPUs × {each} CPU = {need} CPU are wanted on each of {nodes} nodes, and {spare} more on all "
        "together; {found} node(s) have them. These have {shape}",
        "{value}：{nodes} 个节点各需要 {npus} 个 NPU × {each} CPU = {need} CPU，另外合计还需 {spare} 个；"
        "满足的节点有 {found} 个。这些节点为 {shape}",
    ),
    "NR397.fix": (
        "Start Ray with more CPUs (ray start --num-cpus; the default is all cores), or take fewer NPUs a node",
        "请用更多 CPU 启动 Ray（ray start --num-cpus；默认为全部核），或减少每个节点的 NPU 数",
    ),
    "NR397.about": (
        "CPUs of the nodes that have enough NPUs. verl's bundle is one NPU with three CPUs, and its agents, rewards "
        "and "
        "TransferQueue need some beside them; verl looks at the sum of NPUs only and then waits for ever. A low "
        "--num-cpus or a pod's limit is the usual cause.",
        "NPU 足够的节点上的 CPU。verl 的 bundle 是 1 个 NPU 加 3 个 CPU，其 agent、奖励和 TransferQueue 另需一些；"
        "verl 只看 NPU 总数，然后一直等待。常见原因是 --num-cpus 太小或 pod 的限制。",
    ),
    "NR398": (
        "the nodes that fit have several accelerator types ({value}); {limit} of one type are wanted, at most {most} "
        "are "
        "there",
        "满足要求的节点有多种加速器类型（{value}）；需要 {limit} 个同一类型的节点，最多有 {most} 个",
    ),
    "NR398.fix": (
        "Choose one type by cluster.labels, e.g. ray.io/accelerator-type: Ascend910_9392",
        "请用 cluster.labels 选择一种类型，例如 ray.io/accelerator-type: Ascend910_9392",
    ),
    "NR398.about": (
        "Accelerator types of the live cluster. A job's nodes are all of one type, since HCCL and the kernels differ; "
        "it is an error when no type has enough of them. Otherwise it is a hint that the choice is left to npurun.",
        "存活集群的加速器类型。作业的所有节点属于同一类型，因为 HCCL 和算子不同；没有一种类型足够时是错误，"
        "否则只提示由 npurun 选择类型。",
    ),
}
