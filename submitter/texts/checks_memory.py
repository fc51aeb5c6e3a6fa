"""Texts of the checks of device and host memory: id -> (English, Chinese). An `.about` begins with its title."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR310": (
        "{key}={value} (at most {limit}, above 0)",
        "{key}={value}（大于 0，最多 {limit}）",
    ),
    "NR310.fix": (
        "Use 0.6 to 0.85: activations, HCCL's buffers and the training process need the rest",
        "请使用 0.6 到 0.85：激活值、HCCL 缓冲区和训练进程需要其余部分",
    ),
    "NR310.about": (
        "The rollout's share of device memory. vLLM refuses a share that is not above 0 and at most 1; above 0.9, "
        "reports show NPUs that run out of memory, since activations, HCCL's buffers and hybrid models' states are "
        "not all counted. No problem for a small model with its NPUs to itself.",
        "rollout 占用的显存比例。vLLM 拒绝不大于 0 或大于 1 的比例；大于 0.9 时有 NPU 显存不足的报告，因为激活值、"
        "HCCL 缓冲区"
        "和混合模型的状态并未全部计入。小模型且独占 NPU 时没有问题。",
    ),
    "NR311": (
        "{name}={value}, but the rollout shares its NPUs with training: its cache and weights stay while the model is "
        "trained",
        "{name}={value}，而 rollout 与训练共用 NPU：训练期间其缓存和权重不会释放",
    ),
    "NR311.fix": (
        "Set {name}={limit}",
        "请设置 {name}={limit}",
    ),
    "NR311.about": (
        "A rollout that keeps its memory while training runs on the same NPUs. With free_cache_engine the engine "
        "sleeps between rollouts and gives weights and cache back. No problem for small models, or where rollout and "
        "training have NPUs of their own.",
        "与训练同在一批 NPU 上却不释放显存的 rollout。开启 free_cache_engine 时，引擎在两次 rollout 之间休眠，"
        "交还权重和缓存。小模型，或 rollout 与训练各有自己的 NPU 时没有问题。",
    ),
    "NR312": (
        "the rollout's weights take about {value} of each NPU ({arithmetic}; sizes from {source}), its share is "
        "{share}: no room for the key-value cache",
        "rollout 的权重约占每个 NPU {value}（{arithmetic}；尺寸来自 {source}），而其份额为 {share}：KV 缓存没有空间",
    ),
    "NR312.fix": (
        "Raise actor_rollout_ref.rollout.tensor_model_parallel_size (of a model with experts, expert_parallel_size "
        "too), or gpu_memory_utilization",
        "增大 actor_rollout_ref.rollout.tensor_model_parallel_size（专家模型还有 expert_parallel_size），"
        "或 gpu_memory_utilization",
    ),
    "NR312.about": (
        "Whether the rollout's weights leave room for a cache. The parameters are counted from the model's sizes, in "
        "bf16, and cut by the rollout's parallel sizes; an NPU is taken to have 64 GiB. An error where the weights "
        "alone exceed gpu_memory_utilization × 64 GiB, a warning from 80 % of it. No problem for quantised weights.",
        "rollout 的权重是否给缓存留有空间。参数量按模型尺寸以 bf16 计算，再除以 rollout 的并行规模；"
        "NPU 显存按 64 GiB 计。"
        "仅权重就超过 gpu_memory_utilization × 64 GiB 为错误，超过其 80 % 为警告。量化权重没有问题。",
    ),
    "NR313": (
        "the embedding is one tensor of {arithmetic} (sizes from {source}), the bucket to the rollout holds {limit} "
        'MiB: verl 0.7.1 ends with "is too large to fit in the bucket", later ones do where the NPU driver is older '
        "than 25.3",
        "embedding 是一个 {arithmetic} 的张量（尺寸来自 {source}），而到 rollout 的桶只有 {limit} MiB：verl 0.7.1 会以 "
        '"is too large to fit in the bucket" 结束，之后的版本在 NPU 驱动早于 25.3 时也会如此',
    ),
    "NR313.fix": (
        "Set actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes={enough}",
        "请设置 actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes={enough}",
    ),
    "NR313.about": (
        "The bucket through which new weights reach the rollout. verl sends whole tensors, the embedding (vocabulary "
        "× hidden size) being the largest; FSDP sends fp32 unless model_dtype says otherwise, Megatron bf16. No "
        "problem (a hint) where verl casts to bf16 first (0.8.0), hands weights over on the device (NPU driver from "
        "25.3 on), or sends slices (hccl engine from 0.9.0 on).",
        "把新权重送到 rollout 的桶。verl 发送完整的张量，其中最大的是 embedding（词表 × 隐藏维度）；FSDP 默认发送 fp32"
        "（除非 model_dtype 另有说明），Megatron 发送 bf16。verl 先转换为 bf16（0.8.0）、"
        "在设备上直接交接（NPU 驱动不早于 25.3）"
        "或分片发送（0.9.0 起的 hccl 引擎）时没有问题（级别为 hint）。",
    ),
    "NR314": (
        "offloading keeps about {value} in the host memory of each node ({arithmetic}; sizes from {source}); saving "
        "a checkpoint needs more for a while",
        "卸载会在每个节点的主机内存中占用约 {value}（{arithmetic}；尺寸来自 {source}）；保存检查点时还会短暂需要更多",
    ),
    "NR314.fix": (
        "Make sure that each node has so much to spare, beside Ray's object store (by default 30 % of the memory)",
        "请确认每个节点除 Ray 对象存储（默认占内存的 30 %）之外还有这么多空闲",
    ),
    "NR314.about": (
        "Host memory that offloading takes. Adam's moments and the fp32 master weights are 12 bytes a parameter, "
        "offloaded parameters 2 to 4 more, spread over the nodes. How much a node has is not known here; only the "
        "number is given, from 512 GiB per node on.",
        "卸载占用的主机内存。Adam 的动量和 fp32 主权重为每参数 12 字节，卸载的参数另需 2 到 4 字节，分摊到各节点。"
        "这里不知道节点有多少内存，只给出数字（每节点 512 GiB 起）。",
    ),
    "NR315": (
        "{key}=True is read by {limit} only, the strategy is {value}: nothing is offloaded by it",
        "{key}=True 只有 {limit} 会读取，而 strategy 为 {value}：它不会卸载任何内容",
    ),
    "NR315.fix": (
        "Set strategy={limit}, or use param_offload and optimizer_offload",
        "请设置 strategy={limit}，或使用 param_offload 和 optimizer_offload",
    ),
    "NR315.about": (
        "FSDP's CPU offload policy. Only fsdp2 has it; fsdp offloads with param_offload and optimizer_offload. With "
        "fsdp2 the policy takes the place of both.",
        "FSDP 的 CPU 卸载策略。只有 fsdp2 支持；fsdp 使用 param_offload 和 optimizer_offload 卸载。"
        "使用 fsdp2 时，该策略会取代这两者。",
    ),
    "NR316": (
        "{key}={value} needs {limit}=True",
        "{key}={value} 需要 {limit}=True",
    ),
    "NR316.fix": ("Set {limit}=True, or drop {key}", "请设置 {limit}=True，或去掉 {key}"),
    "NR316.about": (
        "Options of Megatron's optimizer that need each other. The precision-aware optimizer is for the distributed "
        "optimizer (else an assertion), and on NPUs for the one that is offloaded to the CPU, since TransformerEngine "
        "has no NPU version; overlapping copies do nothing where nothing is offloaded.",
        "Megatron 优化器中相互依赖的选项。precision-aware 优化器要求分布式优化器（否则断言失败），"
        "在 NPU 上还要求卸载到 CPU，因为 TransformerEngine 没有 NPU 版本；没有卸载时，重叠拷贝不起作用。",
    ),
    "NR317": (
        "{key}={value} does not go together with the other recompute_ options (needed: {limit})",
        "{key}={value} 与其他 recompute_ 选项不匹配（需要：{limit}）",
    ),
    "NR317.fix": (
        "For all layers: recompute_granularity=full, recompute_method=uniform, recompute_num_layers=1; selective "
        "takes recompute_modules only",
        "全部层：recompute_granularity=full、recompute_method=uniform、recompute_num_layers=1；"
        "selective 只使用 recompute_modules",
    ),
    "NR317.about": (
        "How Megatron recomputes activations. It refuses full without a method and a number of layers, selective with "
        "a number, and unknown names, as the model is built; a method without a granularity recomputes nothing.",
        "Megatron 如何重计算激活值。构建模型时，它拒绝没有 method 和层数的 full、带层数的 selective 以及未知的名字；"
        "有 method 却没有 granularity 时不会重计算。",
    ),
    "NR318": (
        "{key}={value}: Megatron refuses it with variable sequence lengths, which verl always asks for",
        "{key}={value}：Megatron 不允许它与可变序列长度同时使用，而 verl 总是要求可变序列长度",
    ),
    "NR318.fix": ("Use {limit}", "请使用 {limit}"),
    "NR318.about": (
        "The token dispatcher of models with experts. verl packs sequences of different lengths; Megatron's allgather "
        "dispatcher does not take them, and the model is not built.",
        "专家模型的 token dispatcher。verl 会打包长度不同的序列；Megatron 的 allgather dispatcher 不支持，"
        "模型无法构建。",
    ),
    "NR319": (
        "{key}={value}: verl's Megatron engine cannot load the model's weights so (needed: {limit})",
        "{key}={value}：verl 的 Megatron 引擎无法这样加载模型权重（需要：{limit}）",
    ),
    "NR319.fix": (
        "Set use_mbridge=True; with use_dist_checkpointing name the converted checkpoint in dist_checkpointing_path",
        "请设置 use_mbridge=True；使用 use_dist_checkpointing 时，请在 dist_checkpointing_path 中写明转换后的检查点",
    ),
    "NR319.about": (
        "Where Megatron's first weights come from. Since 0.8.0 verl's engine asserts use_mbridge; weights from a "
        "distributed checkpoint need its path. No problem on 0.7.1 with its legacy workers.",
        "Megatron 的初始权重从何而来。自 0.8.0 起，verl 的引擎断言 use_mbridge；从分布式检查点加载则需要其路径。"
        "0.7.1 使用旧 worker 时没有问题。",
    ),
}
