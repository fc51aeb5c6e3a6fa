"""Texts of what a process that holds NPUs finds: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR507": (
        "torch_npu does not load on node {node}: {value}",
        "节点 {node} 无法加载 torch_npu：{value}",
    ),
    "NR507.fix": (
        "Source CANN's set_env.sh before `ray start` there; compare `pip list` and `ldd` of torch_npu with "
        "another node",
        "在该节点 `ray start` 之前 source CANN 的 set_env.sh；将 `pip list` 及 torch_npu 的 `ldd` 与其他节点对比",
    ),
    "NR507.about": (
        "torch and torch_npu are imported in a process of its own, in a task that holds reserved NPUs, and asked for "
        "the devices. Every rank of the trainer does the same. Not measured where torch_npu is not installed.",
        "在持有已预留 NPU 的任务中，用独立进程导入 torch 与 torch_npu 并查询设备；训练器的每个 rank 都会这样做。"
        "未安装 torch_npu 时不测量。",
    ),
    "NR508": (
        "torch_npu sees {value} devices on node {node}, {limit} are wanted",
        "节点 {node} 上 torch_npu 只看到 {value} 个设备，需要 {limit} 个",
    ),
    "NR508.fix": (
        "Compare with `npu-smi info` there; look at ASCEND_RT_VISIBLE_DEVICES before `ray start`, and at the devices "
        "that the container was given",
        "与该节点的 `npu-smi info` 对比；检查 `ray start` 之前的 ASCEND_RT_VISIBLE_DEVICES 以及容器挂载的设备",
    ),
    "NR508.about": (
        "torch.npu.device_count() in a process that holds NPUs. Ranks choose their device by local rank among these; "
        "with fewer, some rank ends with `invalid device ID`.",
        "在持有 NPU 的进程中调用 torch.npu.device_count()。各 rank 按 local rank 选择设备；数量不足时某些 rank 会以 "
        "`invalid device ID` 结束。",
    ),
    "NR509": (
        "the NPUs of node {node} are of kind {value} ({chip}), {limit} is what vllm-ascend there or the other "
        "nodes are",
        "节点 {node} 的 NPU 类型为 {value}（{chip}），而该节点的 vllm-ascend 或其他节点为 {limit}",
    ),
    "NR509.fix": (
        "Take the image for {value} on that node, or keep to nodes of one kind (cluster.labels)",
        "在该节点使用面向 {value} 的镜像，或通过 cluster.labels 只选择同一类型的节点",
    ),
    "NR509.about": (
        "The chip that torch_npu reports against the kind that vllm-ascend was built for, and against the other nodes. "
        "vllm-ascend refuses to start on another kind; HCCL does not connect kinds with each other.",
        "将 torch_npu 报告的芯片与 vllm-ascend 的构建类型以及其他节点对比。类型不符时 vllm-ascend 拒绝启动；"
        "HCCL 不支持不同类型之间互联。",
    ),
    "NR564": (
        "Ray on node {node} was started with ASCEND_RT_VISIBLE_DEVICES={value}: a rank of verl opens device {first}, "
        "and torch_npu has {limit} devices there, counted from 0",
        "节点 {node} 的 Ray 启动时设置了 ASCEND_RT_VISIBLE_DEVICES={value}：verl 的 rank 会打开设备 {first}，"
        "而 torch_npu 在该节点只有 {limit} 个设备，从 0 开始编号",
    ),
    "NR564.fix": (
        "Start Ray there without ASCEND_RT_VISIBLE_DEVICES, in a container that is given only these devices (inside "
        "they count from 0), or keep Ray to the host's first {limit}",
        "在该节点启动 Ray 时不要设置 ASCEND_RT_VISIBLE_DEVICES，改为在只挂载这些设备的容器中启动（容器内从 0 编号），"
        "或只让 Ray 使用该主机的前 {limit} 个设备",
    ),
    "NR564.about": (
        "Which devices a process that holds NPUs sees, against the ids that Ray gives. A host that is split by "
        "ASCEND_RT_VISIBLE_DEVICES=8,…,15 gives ids from 8 on, verl's ranks call set_device with them, and torch_npu "
        "counts what is visible from 0: `invalid device ID`. Only for jobs of verl's; the first half of a host is "
        "no problem.",
        "将持有 NPU 的进程看到的设备与 Ray 分配的编号对比。用 ASCEND_RT_VISIBLE_DEVICES=8,…,15 拆分主机时，"
        "Ray 给出从 8 开始的编号，verl 的 rank 用它调用 set_device，而 torch_npu 对可见设备从 0 编号："
        "`invalid device ID`。仅针对 verl 作业；主机的前一半没有问题。",
    ),
}
