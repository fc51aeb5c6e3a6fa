"""Texts of the checks of HCCL and of the handed-on environment: id -> (English, Chinese). An `.about` begins with its
title."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR471": (
        "{name}={value}: HCCL cannot read these ports (within {limit}, ranges that do not overlap)",
        "{name}={value}：HCCL 无法读取这些端口（应在 {limit} 之内，且各范围不重叠）",
    ),
    "NR471.fix": (
        "Ranges such as 60000-60050, with commas between them, or auto; HCCL_IF_BASE_PORT is one number",
        "请写 60000-60050 这样的范围，多个范围用逗号分隔，或写 auto；HCCL_IF_BASE_PORT 是单个数字",
    ),
    "NR471.about": (
        "Ports that HCCL cannot read. It takes single ports and ranges with commas between them, or auto, and refuses "
        "anything else when the first communicator is made. HCCL_IF_BASE_PORT is one port of 1024 to 65520.",
        "HCCL 无法读取的端口。它接受以逗号分隔的单个端口和范围，或 auto；其他写法在创建第一个通信域时会被拒绝。"
        "HCCL_IF_BASE_PORT 是 1024 到 65520 之间的一个端口。",
    ),
    "NR472": (
        "{name}={value} lies within the ports that Linux hands out to any process ({limit}): one that is taken ends "
        "the job with a bind error",
        "{name}={value} 位于 Linux 会分配给任意进程的端口范围内（{limit}）：端口被占用时作业会以绑定错误结束",
    ),
    "NR472.fix": (
        "Take ports from 61000 on or below 32768, use auto for the range, or reserve them on every node: "
        "sysctl -w net.ipv4.ip_local_reserved_ports=…",
        "请使用 61000 及以上或 32768 以下的端口，或将范围设为 auto，或在每个节点上预留："
        "sysctl -w net.ipv4.ip_local_reserved_ports=…",
    ),
    "NR472.about": (
        "HCCL's ports among Linux's ephemeral ones. Any outgoing connection of the node may have taken such a port "
        "when HCCL binds it. No problem where the nodes reserve the ports, or have another ip_local_port_range.",
        "HCCL 的端口处于 Linux 的临时端口范围。HCCL 绑定时，该端口可能已被节点上的任一外出连接占用。"
        "如果节点已预留这些端口，或修改了 ip_local_port_range，则没有问题。",
    ),
    "NR473": (
        "{name}={value} and {other} share ports",
        "{name}={value} 与 {other} 使用了相同的端口",
    ),
    "NR473.fix": (
        "Choose ranges apart from each other, or auto",
        "请选择互不重叠的范围，或使用 auto",
    ),
    "NR473.about": (
        "Port ranges that overlap. HCCL takes ports for the host and for the NPUs, and 16 from HCCL_IF_BASE_PORT on; "
        "what two of them share can be bound once only.",
        "重叠的端口范围。HCCL 分别为主机侧和 NPU 侧使用端口，并从 HCCL_IF_BASE_PORT 起使用 16 个；"
        "两者共有的端口只能绑定一次。",
    ),
    "NR474": (
        "{name}={value} has {count} ports; the processes that share them need {limit}",
        "{name}={value} 只有 {count} 个端口；共用它们的进程需要 {limit} 个",
    ),
    "NR474.fix": (
        "Give at least {limit} ports, or auto",
        "请至少给出 {limit} 个端口，或使用 auto",
    ),
    "NR474.about": (
        "Too few ports for the processes of a node. Training and generation run side by side on each NPU, and each "
        "binds a port of its own: the one that finds none ends with a bind error.",
        "端口少于节点上的进程数。训练与生成在每个 NPU 上并存，各自需要绑定一个端口：找不到端口的进程会以绑定错误结束。",
    ),
    "NR475": (
        "{names} not set: processes that share an NPU bind the same port; verl's trainers set auto themselves, this "
        "one may not",
        "未设置 {names}：共用一个 NPU 的进程会绑定同一个端口；verl 的训练器会自行设为 auto，而本训练器未必",
    ),
    "NR475.fix": (
        "Set them to auto in env, if several processes share an NPU",
        "如有多个进程共用一个 NPU，请在 env 中设为 auto",
    ),
    "NR475.about": (
        "HCCL's ports where several processes share an NPU. By default all of them bind one fixed port and the second "
        "fails; auto lets the system choose. No problem with one process per NPU.",
        "多个进程共用一个 NPU 时的 HCCL 端口。默认情况下它们都绑定同一个固定端口，第二个会失败；"
        "auto 由系统选择端口。每个 NPU 只有一个进程时没有问题。",
    ),
    "NR476": (
        "{name}='{value}': HCCL takes {limit} seconds and refuses anything else when it starts",
        "{name}='{value}'：HCCL 只接受 {limit} 秒，其他值会在启动时被拒绝",
    ),
    "NR476.fix": (
        "Give a number of seconds: {limit}",
        "请写秒数：{limit}",
    ),
    "NR476.about": (
        "A time-out that HCCL cannot use. HCCL_CONNECT_TIMEOUT is a whole number of 120 to 7200 seconds, "
        "HCCL_EXEC_TIMEOUT a number that is not negative.",
        "HCCL 无法使用的超时时间。HCCL_CONNECT_TIMEOUT 是 120 到 7200 之间的整数秒，HCCL_EXEC_TIMEOUT 是非负数。",
    ),
    "NR477": (
        "{name}={value} s is far from what a training needs ({limit} s): 0 waits for ever, a short one ends healthy "
        "runs, a long one hides a hang",
        "{name}={value} 秒与训练所需相差太远（{limit} 秒）：0 表示一直等待，过短会中断正常的运行，过长会掩盖挂起",
    ),
    "NR477.fix": (
        "Give some minutes to an hour, such as 1800",
        "请设为几分钟到一小时，例如 1800",
    ),
    "NR477.about": (
        "How long a collective waits for its peers. Ranks may be minutes apart at the first step and around "
        "checkpoints; a peer that is gone is told only when this time is over.",
        "集合通信等待对端的时间。在第一步和保存检查点前后，各 rank 可能相差数分钟；"
        "对端消失时，要到这段时间结束才会被发现。",
    ),
    "NR478": (
        "{name}={value} s is longer than {key}={limit} s: torch's process group gives up first",
        "{name}={value} 秒大于 {key}={limit} 秒：torch 的进程组会先超时",
    ),
    "NR478.fix": (
        "Set {key} to at least {value}, if collectives may take so long",
        "如果集合通信可能需要这么久，请将 {key} 至少设为 {value}",
    ),
    "NR478.about": (
        "Two time-outs of one wait. verl 0.7 hands nccl_timeout to the process group, whose watchdog ends a collective "
        "that takes longer, whatever HCCL would allow. No problem where no collective takes that long.",
        "同一等待的两个超时。verl 0.7 把 nccl_timeout 交给进程组，其看门狗会结束超时的集合通信，无论 HCCL 允许多久。"
        "如果没有集合通信需要这么久，则没有问题。",
    ),
    "NR479": (
        "HCCL_CONNECT_TIMEOUT is not set: on {nodes} nodes roles can reach their first collective more than {limit} "
        "apart, which ends the job with EI0006",
        "未设置 HCCL_CONNECT_TIMEOUT：在 {nodes} 个节点上，各角色到达首个集合通信的时间可能相差超过 {limit}，"
        "作业会以 EI0006 结束",
    ),
    "NR479.fix": (
        "Set HCCL_CONNECT_TIMEOUT in env, for instance 1800",
        "请在 env 中设置 HCCL_CONNECT_TIMEOUT，例如 1800",
    ),
    "NR479.about": (
        "The time in which HCCL's links have to stand. 120 s by default; loading a large model or compiling graphs on "
        "one node alone takes longer. No problem where all ranks get there together.",
        "HCCL 建链的时限。默认 120 秒；仅在一个节点上加载大模型或编译图就可能更久。"
        "如果所有 rank 同时到达，则没有问题。",
    ),
    "NR480": (
        "{name}='{value}' is no size in MB: torch_npu ends with \"HCCL_BUFFSIZE should be positive\"",
        "{name}='{value}' 不是以 MB 为单位的大小：torch_npu 会以 \"HCCL_BUFFSIZE should be positive\" 结束",
    ),
    "NR480.fix": (
        "Give a whole number of MB, such as 300",
        "请写整数 MB，例如 300",
    ),
    "NR480.about": (
        "A buffer size that cannot be read. HCCL_BUFFSIZE is a positive whole number of MB, without a unit.",
        "无法读取的缓冲区大小。HCCL_BUFFSIZE 是不带单位的正整数，单位为 MB。",
    ),
    "NR481": (
        "{name}={value} MB: each communicator takes {taken} MB of an NPU's memory; above {limit} a few of them fill it",
        "{name}={value} MB：每个通信域占用 NPU 的 {taken} MB 内存；超过 {limit} 时，几个通信域就会占满",
    ),
    "NR481.fix": (
        "Start with 200 to 1024 and raise it only as far as HCCL asks",
        "请从 200 到 1024 开始，仅在 HCCL 提示时再增大",
    ),
    "NR481.about": (
        "A large buffer for every communicator. HCCL takes it twice, to send and to receive, for each group of each "
        "rank: tensor, pipeline, context, expert and data parallel ones. No problem with few groups.",
        "每个通信域的大缓冲区。HCCL 为每个 rank 的每个通信组各取两份（发送与接收）："
        "张量、流水线、上下文、专家和数据并行。"
        "通信组很少时没有问题。",
    ),
    "NR482": (
        "{name}={value} replaces what the nodes have: CANN's set_env.sh puts its own folders there, and without them "
        "acl or libhccl is not found",
        "{name}={value} 会取代节点自身的值：CANN 的 set_env.sh 在其中加入了自己的目录，缺少它们会找不到 acl 或 libhccl",
    ),
    "NR482.fix": (
        "Drop it and set it on the nodes before `ray start`, or make sure that it names all that the nodes need; own "
        "code travels in runtime_env.working_dir",
        "请去掉它并在各节点执行 `ray start` 之前设置，或确认其中包含节点所需的全部目录；自己的代码可放在 "
        "runtime_env.working_dir 中",
    ),
    "NR482.about": (
        "A search path for all nodes. A value from one machine takes the place of each node's own, which names CANN, "
        "Megatron-LM and MindSpeed. No problem where all nodes have one image and the value names all of it.",
        "作用于所有节点的搜索路径。来自一台机器的值会取代各节点自己的值，而后者包含 CANN、Megatron-LM 和 MindSpeed。"
        "如果所有节点使用同一镜像，且该值包含全部内容，则没有问题。",
    ),
    "NR483": (
        "{name}={value} describes one shell, user or host; every process on every node would get it",
        "{name}={value} 描述的是某个 shell、用户或主机；所有节点上的所有进程都会得到它",
    ),
    "NR483.fix": (
        "Drop it: name only the flags that the job needs",
        "去掉它：只写作业需要的变量",
    ),
    "NR483.about": (
        "A variable of the machine that the job was written on. Copying an environment as a whole hands on paths, "
        "addresses and users that are wrong elsewhere.",
        "属于编写作业的那台机器的变量。整体复制环境会把在别处错误的路径、地址和用户带过去。",
    ),
    "NR484": (
        "{name}={value}: the right value differs from node to node, but all nodes of the job would get this one",
        "{name}={value}：正确的值因节点而异，而作业的所有节点都会得到这一个值",
    ),
    "NR484.fix": (
        "Drop it and set it on each node before `ray start`, or make sure that it fits all of them",
        "请去掉它并在各节点执行 `ray start` 之前分别设置，或确认它适合所有节点",
    ),
    "NR484.about": (
        "A flag whose right value belongs to a node: a library's path, a logical super node. No problem where the "
        "nodes are alike.",
        "正确的值属于某个节点的变量：库的路径、逻辑超节点编号等。如果各节点相同，则没有问题。",
    ),
    "NR485": (
        "each node installs {value} when the job starts: without a package index there, the job fails at its start",
        "作业启动时每个节点都会安装 {value}：若节点访问不到软件包索引，作业会在启动时失败",
    ),
    "NR485.fix": (
        "Put the packages into the image that the nodes run; runtime_env.pip is for clusters that reach an index",
        "请把这些软件包放进节点所用的镜像；runtime_env.pip 适用于能访问软件包索引的集群",
    ),
    "NR485.about": (
        "Packages that are installed when the job starts. Ray runs pip on every node; a cluster without a way out, or "
        "one node whose pip fails, ends the job. No problem where the nodes reach an index.",
        "作业启动时安装的软件包。Ray 会在每个节点上运行 pip；集群没有外网，或某个节点的 pip 失败，作业就会结束。"
        "如果节点能访问软件包索引，则没有问题。",
    ),
    "NR486": (
        "{name}={value} has no effect on {limit}: since 0.8.0 verl's workers set their process groups up without it",
        "{name}={value} 在 {limit} 上不起作用：自 0.8.0 起 verl 的 worker 创建进程组时不再使用它",
    ),
    "NR486.fix": (
        "Drop it and set HCCL_EXEC_TIMEOUT in env: torch_npu's watchdog waits 1800 s longer than that",
        "请去掉它，并在 env 中设置 HCCL_EXEC_TIMEOUT：torch_npu 的看门狗会比它多等 1800 秒",
    ),
    "NR486.about": (
        "A time-out that nothing reads. The key is still in verl's configuration, but the workers that read it left "
        "with 0.8.0; HCCL's own time-outs count. No problem where the same arguments also serve verl 0.7.",
        "没有程序读取的超时。该键仍在 verl 的配置中，但读取它的 worker 在 0.8.0 中已移除；起作用的是 HCCL 自身的超时。"
        "同一参数还要用于 verl 0.7 时，没有问题。",
    ),
}
