"""What the checks of the runtime environment are about; the first sentence is the title: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR401.about": (
        "A flag that verl hands on in its own ray.init. Ray refuses a name that is both in the job's runtime_env and "
        "in that of ray.init, and the trainer ends at its start. No problem with RAY_OVERRIDE_JOB_RUNTIME_ENV=1, or "
        "on a verl that does not hand the name on.",
        "由 verl 在自己的 ray.init 中再次传递的环境变量。同一个名字既在作业的 runtime_env 中又在 ray.init 的 "
        "runtime_env 中时，Ray 会拒绝，训练器一启动就结束。设置 RAY_OVERRIDE_JOB_RUNTIME_ENV=1，"
        "或所用 verl 不传递该变量时没有问题。",
    ),
    "NR402.about": (
        "A flag that verl sets itself with this job's arguments. It does so in its own ray.init, where Ray refuses a "
        "name that the job's runtime_env has too. No problem with RAY_OVERRIDE_JOB_RUNTIME_ENV=1: verl's value wins.",
        "在本作业的参数下由 verl 自行设置的环境变量。verl 在自己的 ray.init 中设置它，而 Ray 会拒绝作业 runtime_env 中"
        "已有的名字。设置 RAY_OVERRIDE_JOB_RUNTIME_ENV=1 时没有问题：以 verl 的值为准。",
    ),
    "NR403.about": (
        "An argument that sets a variable of ray.init's runtime_env which the job sets already. The submission gives "
        "every worker the job's flags and a few of npurun's own; Ray refuses to merge the same name from two sides.",
        "参数在 ray.init 的 runtime_env 中设置了作业已有的变量。提交请求会把作业的环境变量以及 npurun 自己的少数几个"
        "交给每个 worker；同一名字来自两边时，Ray 会拒绝合并。",
    ),
    "NR404.about": (
        "An argument that sets a field of ray.init's runtime_env which the submission sets already. npurun's package "
        "travels in py_modules, and the job's working_dir and pip have their own fields; Ray does not merge them.",
        "参数在 ray.init 的 runtime_env 中设置了提交请求已有的字段。npurun 的包通过 py_modules 传送，作业的 "
        "working_dir 和 pip 各有自己的字段；Ray 不会合并它们。",
    ),
    "NR411.about": (
        "A flag or secret whose name begins with NPURUN_. By these names npurun recognises the processes of an "
        "attempt, on every node, and ends exactly them. A value from the job would break that.",
        "名字以 NPURUN_ 开头的环境变量或密钥。npurun 在每个节点上通过这些名字识别一次尝试的进程，并且只结束它们。"
        "作业若给出自己的值会破坏这一机制。",
    ),
    "NR412.about": (
        "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES with another value than 1. verl chooses each rank's device "
        "by its local rank and needs to see all of them; Ray would otherwise show each worker only its own.",
        "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES 的值不是 1。verl 按 local rank 为每个 rank 选择设备，"
        "需要看到全部设备；否则 Ray 只让每个 worker 看到它自己的那一个。",
    ),
    "NR413.about": (
        "RAY_JOB_STOP_WAIT_TIME_S that is too short. It is the time between Ray's SIGTERM and SIGKILL of a stopped "
        "job. The driver needs it to collect evidence, to end the trainer and to free the NPUs of every node.",
        "RAY_JOB_STOP_WAIT_TIME_S 过短。它是 Ray 停止作业时从 SIGTERM 到 SIGKILL 的时间。驱动进程需要这段时间来"
        "收集各节点的证据、结束训练器并释放 NPU。",
    ),
    "NR414.about": (
        "ASCEND_RT_VISIBLE_DEVICES in env. A flag is the same for all processes, but each rank opens the device of its "
        "own local rank. verl and the launchers set the variable themselves.",
        "在 env 中设置 ASCEND_RT_VISIBLE_DEVICES。环境变量对所有进程都相同，而每个 rank 要打开与其 local rank "
        "对应的设备。verl 和启动器会自行设置该变量。",
    ),
    "NR415.about": (
        "PATH or PYTHONHOME in env. Ray starts a worker's Python with these, and they replace the nodes' own. No "
        "problem when the value leads to Ray's Python on every node.",
        "在 env 中设置 PATH 或 PYTHONHOME。Ray 用它们启动 worker 的 Python，它们会取代节点自身的值。"
        "若该值在每个节点上都能找到 Ray 的 Python，则没有问题。",
    ),
    "NR416.about": (
        "A flag whose value has $NAME or ${{NAME}} in it. Ray fills in each node's own variables, so that workers see "
        "another value than the job's. An error where Ray is sure to change it, else a warning.",
        "值中含有 $NAME 或 ${{NAME}} 的环境变量。Ray 会填入各节点自身的变量，worker 看到的值因此与作业中的不同。"
        "Ray 必定会改动时为错误，否则为警告。",
    ),
    "NR421.about": (
        "A node's own address in env. HCCL_IF_IP, VLLM_HOST_IP and MASTER_ADDR name one node, but a flag reaches all "
        "of them, and the others cannot bind to it. On a job of one node it is a warning.",
        "在 env 中写入某个节点自己的地址。HCCL_IF_IP、VLLM_HOST_IP、MASTER_ADDR 只对应一个节点，而环境变量会到达"
        "所有节点，其他节点无法绑定该地址。单节点作业为警告。",
    ),
    "NR422.about": (
        "Ranks or a rank table in env. RANK, WORLD_SIZE, RANK_TABLE_FILE and their like differ from process to process "
        "or fit one fixed set of nodes; the launcher sets them for each process.",
        "在 env 中写入 rank 或 rank table。RANK、WORLD_SIZE、RANK_TABLE_FILE 等因进程而异，或只适用于一组固定的节点；"
        "启动器会为每个进程设置它们。",
    ),
    "NR423.about": (
        "One network interface's name for all nodes. The socket transports of HCCL, Gloo and TensorPipe bind to it, "
        "and hosts often name theirs differently. No problem when all nodes have an interface of that name.",
        "为所有节点指定同一个网卡名。HCCL、Gloo 和 TensorPipe 的套接字会绑定到它，而各主机的网卡名常常不同。"
        "若所有节点都有这个名字的网卡，则没有问题。",
    ),
    "NR424.about": (
        "Explicit core numbers in CPU_AFFINITY_CONF. They describe one server's topology. No problem when all nodes "
        "are alike; a mode alone (1 or 2) fits every node.",
        "CPU_AFFINITY_CONF 中写明了核编号。它们描述的是某一种服务器的拓扑。若所有节点都相同则没有问题；"
        "只写模式（1 或 2）适用于任何节点。",
    ),
    "NR431.about": (
        "A value that looks like a secret. Ray keeps flags, arguments and labels of a submission in plain text and "
        "shows them to whoever can reach its dashboard. Such a value is never printed here; "
        "name a reference under secrets instead.",
        "看起来像密钥的值。Ray 以明文保存提交请求中的环境变量、参数和标签，任何能访问其 dashboard 的人都能看到。"
        "这里不会打印这样的值；请改在 secrets 中写引用。",
    ),
    "NR432.about": (
        "One name both under secrets and in env. Which of the two a process sees depends on the order of start.",
        "同一个名字既在 secrets 中又在 env 中。进程看到哪一个将取决于启动顺序。",
    ),
    "NR441.about": (
        "A runtime_env.working_dir that is no folder on this machine. Ray packs a local folder only, so the "
        "submission would fail.",
        "runtime_env.working_dir 不是本机上的目录。Ray 只打包本地目录，提交会失败。",
    ),
    "NR442.about": (
        "A working_dir that is larger than Ray accepts. It is packed by Ray's own ignore rules and kept in the head "
        "node's memory. Data, models and checkpoints belong on storage that the nodes share.",
        "working_dir 超过 Ray 允许的大小。它按 Ray 自己的忽略规则打包，并保存在头节点的内存中。"
        "数据、模型和 checkpoint 应放在各节点的共享存储上。",
    ),
    "NR443.about": (
        "A working_dir with something in it that cannot be packed. A file that may not be read, a pipe, a device or a "
        "link in a circle would fail or never end while Ray packs it.",
        "working_dir 中有无法打包的内容。不可读的文件、管道、设备或循环链接会使 Ray 打包失败，或永不结束。",
    ),
    "NR444.about": (
        "Ignore rules of the working_dir that Ray cannot read. They are runtime_env.excludes and the folder's "
        ".gitignore and .rayignore files.",
        "Ray 无法读取的 working_dir 忽略规则。它们来自 runtime_env.excludes 以及该目录的 .gitignore 和 .rayignore；"
        "该检查不能忽略。",
    ),
    "NR445.about": (
        "A module in the working_dir that hides one of Python's or of Ray's needs. The folder comes first on the "
        "path of Ray's own processes. No problem when it is meant to stand in for that module and has all its names.",
        "working_dir 中的模块遮蔽了 Python 自带或 Ray 依赖的模块。该目录在 Ray 自身进程的搜索路径中排在最前面。"
        "若有意用它代替该模块且名字齐全，则没有问题。",
    ),
}
