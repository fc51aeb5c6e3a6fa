"""Texts of the rollout's layout rules (NR260 to NR269): id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR260": (
        "the model has {limit} attention heads, which {value} does not divide ({source}): the rollout engine "
        "refuses it",
        "模型有 {limit} 个注意力头，{value} 不能整除它（{source}）：推理引擎会拒绝",
    ),
    "NR260.fix": (
        "The rollout's TP can be one of {choices}",
        "推理的 TP 可取：{choices}",
    ),
    "NR260.about": (
        "Whether the rollout's TP divides the model's attention heads. vLLM and SGLang give each tensor parallel "
        "rank whole heads, and refuse anything else when the engine starts.",
        "推理的 TP 能否整除模型的注意力头数。vLLM 和 SGLang 给每个张量并行 rank 分配完整的注意力头，否则在引擎启"
        "动时拒绝。",
    ),
    "NR261": (
        "the model has {limit} key-value heads: neither do they divide {value} nor {value} them ({source})",
        "模型有 {limit} 个 KV 头，与 {value} 互不整除（{source}）",
    ),
    "NR261.fix": (
        "The rollout's TP can be one of {choices}",
        "推理的 TP 可取：{choices}",
    ),
    "NR261.about": (
        "Whether the rollout's TP fits the model's key-value heads. The engine shares them out, or repeats each "
        "of them, in whole numbers: one has to divide the other. Models with latent attention (MLA) are not "
        "looked at.",
        "推理的 TP 是否与模型的 KV 头数相容。引擎只能按整数切分或复制 KV 头：二者必须一方整除另一方。使用潜在注意"
        "力（MLA）的模型不作检查。",
    ),
    "NR262": (
        "replicas of {value} NPUs do not fill {limit} NPUs: {left} are left over",
        "每个副本 {value} 个 NPU，不能铺满 {limit} 个 NPU：剩余 {left} 个",
    ),
    "NR262.fix": (
        "Choose TP × DP among {choices}",
        "TP × DP 请取：{choices}",
    ),
    "NR262.about": (
        "Whether rollout replicas of TP × DP NPUs fill the world. In hybrid jobs, where trainer and rollout "
        "share NPUs, verl asserts it. A rollout with nodes of its own leaves the remainder idle (a warning), but "
        "needs room for one replica at least.",
        "TP × DP 个 NPU 的推理副本能否铺满全部 NPU。训练与推理共用 NPU 的混合作业中，verl 会断言这一点。推理使用"
        "独立节点时，剩余的 NPU 闲置（警告），但至少要放得下一个副本。",
    ),
    "NR263": (
        "replicas of {value} NPUs do not fit nodes of {limit}: some would hold NPUs of two nodes, or find no place",
        "每个副本 {value} 个 NPU，与每节点 {limit} 个不相容：部分副本会横跨两个节点，或无处放置",
    ),
    "NR263.fix": (
        "Choose TP × DP among {choices}, or a multiple of {limit}",
        "TP × DP 请取 {choices} 之一，或 {limit} 的倍数",
    ),
    "NR263.about": (
        "Whether rollout replicas fit into nodes. verl starts one server per node of a replica, so a node has to "
        "hold whole replicas, or a replica whole nodes.",
        "推理副本能否放入节点。verl 在副本的每个节点上启动一个服务，因此一个节点必须容纳整数个副本，或一个副本占"
        "用整数个节点。",
    ),
    "NR264": (
        "{value} of the rollout has to be {limit}, or 1: verl refuses anything else",
        "推理的 {value} 必须等于 {limit}，或为 1：verl 拒绝其他取值",
    ),
    "NR264.fix": (
        "Set actor_rollout_ref.rollout.expert_parallel_size to {product} (TP × DP), or to 1 to switch it off",
        "将 actor_rollout_ref.rollout.expert_parallel_size 设为 {product}（TP × DP），或设为 1 以关闭",
    ),
    "NR264.about": (
        "Whether the rollout's EP is TP × DP. vLLM and SGLang know expert parallelism only as on or off: on, it "
        "spans the whole replica, so verl asserts EP = TP × DP. 1 means off.",
        "推理的 EP 是否等于 TP × DP。vLLM 和 SGLang 的专家并行只有开和关：开启时覆盖整个副本，因此 verl 断言 EP "
        "= TP × DP。1 表示关闭。",
    ),
    "NR265": (
        "the model has {limit} experts, which the rollout's {value} does not divide ({source})",
        "模型有 {limit} 个专家，推理的 {value} 不能整除它（{source}）",
    ),
    "NR265.fix": (
        "Choose EP (= TP × DP) among {choices}",
        "EP（= TP × DP）请取：{choices}",
    ),
    "NR265.about": (
        "Whether the rollout's EP divides the model's experts. vLLM can give some ranks one expert more than "
        "others, but fused NPU kernels expect the same number on each.",
        "推理的 EP 能否整除模型的专家数。vLLM 可以让部分 rank 多持有一个专家，但 NPU 融合算子要求各 rank 数量相同。",
    ),
    "NR266": (
        "{value} of the rollout without expert parallelism on verl {verl}: engines of dense models were seen to "
        "hang like this",
        "verl {verl} 上推理的 {value} 没有配合专家并行：稠密模型的引擎曾因此挂起",
    ),
    "NR266.fix": (
        "Set data_parallel_size to 1 (verl starts a replica for each TP NPUs anyway), or for a model with "
        "experts expert_parallel_size to TP × DP ({limit})",
        "将 data_parallel_size 设为 1（verl 本来就会按每 TP 个 NPU 启动一个副本）；若模型有专家，可将 "
        "expert_parallel_size 设为 TP × DP（{limit}）",
    ),
    "NR266.about": (
        "Whether the rollout asks for data parallelism inside a replica without expert parallelism. Before verl "
        "0.8.0 the size was not handed to vLLM then, and the replica waited for ranks that never came (an "
        "error); later it works, but gives a dense model nothing over more replicas (a warning).",
        "推理是否在没有专家并行时要求副本内数据并行。verl 0.8.0 之前此时不会把该规模传给 vLLM，副本一直等待不会出"
        "现的 rank（错误）；之后可以运行，但对稠密模型并不优于更多副本（警告）。",
    ),
    "NR267": (
        "{value} does not fit into a node of {limit} NPUs: with data parallelism each node takes whole tensor "
        "parallel groups",
        "{value} 放不进 {limit} 个 NPU 的节点：使用数据并行时，每个节点须容纳完整的张量并行组",
    ),
    "NR267.fix": (
        "Choose a TP that divides {limit}, and leave data_parallel_size_local to verl",
        "请选择能整除 {limit} 的 TP，data_parallel_size_local 交由 verl 设置",
    ),
    "NR267.about": (
        "Whether the data parallel ranks of a rollout replica fit into its nodes. verl puts n_gpus_per_node / TP "
        "of them on each node and asserts that it comes out; a data_parallel_size_local of one's own can reach "
        "beyond the visible devices.",
        "推理副本的数据并行 rank 能否放入各节点。verl 在每个节点上放 n_gpus_per_node / TP 个，并断言能整除；自行"
        "设置的 data_parallel_size_local 可能超出可见设备。",
    ),
    "NR268": (
        "one rollout replica ({value}) spans {nodes} nodes of {limit} NPUs: its collectives cross nodes in every "
        "step, and one late node ends in a time-out",
        "一个推理副本（{value}）横跨 {nodes} 个各有 {limit} 个 NPU 的节点：每一步的集合通信都要跨节点，一个节点变"
        "慢就可能超时",
    ),
    "NR268.fix": (
        "Keep TP at {limit} or less if the weights fit there; else raise HCCL_EXEC_TIMEOUT and HCCL_CONNECT_TIMEOUT",
        "若权重放得下，请将 TP 控制在 {limit} 以内；否则调大 HCCL_EXEC_TIMEOUT 和 HCCL_CONNECT_TIMEOUT",
    ),
    "NR268.about": (
        "Whether a rollout replica is larger than a node. Large models need it, and data or expert parallel "
        "ranks between nodes are usual; tensor parallelism between nodes is slow and prone to collective "
        "time-outs when prompts finish unevenly.",
        "推理副本是否大于一个节点。大模型需要如此，跨节点的数据并行和专家并行很常见；跨节点的张量并行很慢，各请求"
        "结束时间不一时容易集合通信超时。",
    ),
    "NR269": (
        "{value} of the rollout: verl's {name} rollout knows no pipeline parallelism and ends with NotImplementedError",
        "推理设置了 {value}：verl 的 {name} 推理不支持流水线并行，会以 NotImplementedError 结束",
    ),
    "NR269.fix": (
        "Set actor_rollout_ref.rollout.pipeline_model_parallel_size to 1",
        "将 actor_rollout_ref.rollout.pipeline_model_parallel_size 设为 1",
    ),
    "NR269.about": (
        "Whether the rollout asks for pipeline parallelism. verl 0.7.1 to 0.9.1 refuse a size above 1 for vLLM, "
        "SGLang and TensorRT-LLM.",
        "推理是否要求流水线并行。verl 0.7.1 至 0.9.1 对 vLLM、SGLang 和 TensorRT-LLM 都拒绝大于 1 的规模。",
    ),
}
