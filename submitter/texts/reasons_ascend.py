"""Texts of the reasons that only NPUs have: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "reason.hccl_link_error": (
        "the network between two NPUs lost packets (HCCL)",
        "两个 NPU 之间的网络丢包（HCCL）",
    ),
    "reason.hccl_link_error.means": (
        "RoCE or UB gave up on repeating packets to the peer (EI0013, EI0018): a port that flaps, a congested switch, "
        "or a peer whose process had gone.",
        "RoCE 或 UB 向对端重传超次（EI0013、EI0018）：端口闪断、交换机拥塞，或对端进程已退出。",
    ),
    "reason.hccl_link_error.fix": (
        "Look at `hccn_tool -i <id> -link_stat -g` of both ends at that time; raise HCCL_RDMA_TIMEOUT and "
        "HCCL_RDMA_RETRY_CNT on a congested network",
        "请查看该时刻两端的 `hccn_tool -i <id> -link_stat -g`；"
        "网络拥塞时请增大 HCCL_RDMA_TIMEOUT 与 HCCL_RDMA_RETRY_CNT",
    ),
    "reason.device_link_error": ("a link of an NPU is down", "NPU 的链路断开"),
    "reason.device_link_error.means": (
        "The device's own port or its link to the neighbours is down (EJ0002, 507056): optical module, cable, switch "
        "port or the chip.",
        "设备自身的网口或与相邻设备的链路断开（EJ0002、507056）：光模块、线缆、交换机端口或芯片故障。",
    ),
    "reason.device_link_error.fix": (
        "Look at `hccn_tool -i <id> -link -g` and `-optical -g` on that node; the next attempt leaves it out",
        "请在该节点查看 `hccn_tool -i <id> -link -g` 与 `-optical -g`；下一次尝试会排除该节点",
    ),
    "reason.hccl_inconsistent": (
        "ranks do not agree on a collective operation or on HCCL's version",
        "各 rank 的集合通信参数或 HCCL 版本不一致",
    ),
    "reason.hccl_inconsistent.means": (
        "Two ranks came to the same operation with another count, type or order (EI0005), or with another CANN "
        "(EI0008).",
        "两个 rank 以不同的数量、类型或顺序进入同一操作（EI0005），或使用不同的 CANN（EI0008）。",
    ),
    "reason.hccl_inconsistent.fix": (
        "Install the same CANN on all nodes (`npurun doctor` compares them); with equal versions it is the model's or "
        "layout's code",
        "请在所有节点安装相同的 CANN（`npurun doctor` 会比较）；版本相同时为模型或并行布局代码问题",
    ),
    "reason.hccl_config": ("a setting of HCCL is not valid", "HCCL 的设置无效"),
    "reason.hccl_config.means": (
        "An environment variable (EI0001), the rank table (EI0004, EI0014, EI0017), a communicator's option (EI0016) "
        "or an operation's argument (EI0003) is refused.",
        "环境变量（EI0001）、rank table（EI0004、EI0014、EI0017）、通信域选项（EI0016）或操作参数（EI0003）被拒绝。",
    ),
    "reason.hccl_config.fix": (
        "Correct the variable or entry that the line names; unset RANK_TABLE_FILE where Ray places the ranks",
        "请更正该行指出的变量或条目；由 Ray 放置 rank 时请取消 RANK_TABLE_FILE",
    ),
    "reason.sdma_error": ("copying memory between NPUs failed (SDMA)", "NPU 之间的内存拷贝失败（SDMA）"),
    "reason.sdma_error.means": (
        "The copy met memory that was freed or never mapped, a peer that had gone, or a link that failed (EI0012, "
        "507013).",
        "拷贝遇到已释放或未映射的内存、已退出的对端，或链路故障（EI0012、507013）。",
    ),
    "reason.sdma_error.fix": (
        "Look for a rank that ended before and at the links of both devices; if it comes again at the same step, it is "
        "memory that is freed too early",
        "请查找更早退出的 rank 并检查两端设备的链路；如果总在同一步出现，则是内存被过早释放",
    ),
}
