"""Texts of the layout rules (NR241 to NR259, NR270) and of reading a model's shape: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "model.from_table": (
        "from npurun's table of known shapes, row {row}, since its config.json cannot be read here",
        "来自 npurun 的已知模型结构表中的 {row} 一行，因为此处读不到它的 config.json",
    ),
    "model.from_config": (
        "from {path}",
        "来自 {path}",
    ),
    "model.why.unnamed": (
        "actor_rollout_ref.model.path names no model",
        "actor_rollout_ref.model.path 没有指定模型",
    ),
    "model.why.absent": (
        "{path} is not on this machine, and npurun's table of known shapes does not have that model",
        "{path} 不在本机上，npurun 的已知模型结构表中也没有该模型",
    ),
    "model.why.forbidden": (
        "{path} may not be read, and npurun's table of known shapes does not have that model",
        "没有读取 {path} 的权限，npurun 的已知模型结构表中也没有该模型",
    ),
    "model.why.no_file": (
        "{path} is no ordinary file",
        "{path} 不是普通文件",
    ),
    "model.why.json": (
        "{path} is not valid JSON, or no JSON object",
        "{path} 不是有效的 JSON，或不是 JSON 对象",
    ),
    "model.why.large": (
        "{path} is larger than {limit}",
        "{path} 超过 {limit}",
    ),
    "model.why.os": (
        "{path} cannot be read: {reason}",
        "无法读取 {path}：{reason}",
    ),
    "model.why.no_sizes": (
        "{path} names neither layers nor attention heads",
        "{path} 中既没有层数，也没有注意力头数",
    ),
    "NR241": (
        "the model's config.json cannot be used: {why}",
        "无法使用模型的 config.json：{why}",
    ),
    "NR241.fix": (
        "Copy the model's config.json again, or correct {key}",
        "请重新复制模型的 config.json，或修正 {key}",
    ),
    "NR241.unknown": (
        "heads, layers and experts against the parallel sizes, prompt and response against the model's context "
        "length, and weights against memory: not checked, since {why}. Run the check "
        "where the model's config.json can be read, or keep the published name of the model as the name of its "
        "folder",
        "未核对注意力头数、层数、专家数与并行规模，也未核对上下文长度和权重所需内存：{why}。"
        "请在能读到模型 config.json 的机器上检查，或让模型"
        "目录保持其发布名称",
    ),
    "NR241.about": (
        "Whether the sizes of the model are known. Rules on heads, layers, experts and context length read them "
        "from the model's config.json, in its folder or in the Hugging Face cache of this machine, else from a "
        "table of known models by the name of the folder. Where neither helps, these rules are silent and the "
        "report says so; a config.json that is here but broken is a warning.",
        "模型的结构尺寸是否已知。关于注意力头、层、专家和上下文长度的规则从模型的 config.json 读取这些尺寸（模型"
        "目录或本机的 Hugging Face 缓存），读不到时按目录名查已知模型表。两者都没有时，这些规则不作判断，报告会注"
        "明；config.json 在本机但已损坏时给出警告。",
    ),
    "NR242": (
        "the parallel sizes do not divide the world: {spelled}",
        "并行规模不能整除总进程数：{spelled}",
    ),
    "NR242.fix": (
        "Choose sizes whose product divides {value}, or change trainer.nnodes and trainer.n_gpus_per_node",
        "请选择乘积能整除 {value} 的并行规模，或修改 trainer.nnodes 和 trainer.n_gpus_per_node",
    ),
    "NR242.about": (
        "Whether the trainer's parallel sizes divide the world. Megatron needs world % (TP × PP × CP) = 0, "
        "Ulysses sequence parallelism world % SP = 0, torchtitan exactly the world as product with its data "
        "parallel sizes; else no process group can be made and every worker fails at its start. Looked at for "
        "the actor, and for the reference model and the critic where they differ.",
        "训练并行规模能否整除总进程数。Megatron 要求 world % (TP × PP × CP) = 0，Ulysses 序列并行要求 world % SP "
        "= 0，torchtitan 要求各规模与数据并行规模之积恰为总进程数；否则无法建立通信组，所有 worker 在启动时失败。"
        "检查 actor，以及与之不同的参考模型和 critic。",
    ),
    "NR243": (
        "{value} does not divide the world of {limit}: megatron-core cannot make its expert groups",
        "{value} 不能整除总进程数 {limit}：megatron-core 无法建立专家并行通信组",
    ),
    "NR243.fix": (
        "{do}. An expert_tensor_parallel_size that is not set counts as TP {tensor}; set it to 1 for small experts",
        "{do}。未设置 expert_tensor_parallel_size 时按 TP {tensor} 计算；专家较小时请设为 1",
    ),
    "NR243.choices": ("With {rest}, EP can be one of: {choices}", "在 {rest} 下，EP 可取：{choices}"),
    "NR243.none": (
        "With {rest} no EP fits a world of {world}: change ETP or PP",
        "在 {rest} 下，任何 EP 都不适合总进程数 {world}：请调整 ETP 或 PP",
    ),
    "NR243.about": (
        "Whether ETP × EP × PP divides the world. Experts are laid out apart from attention: their groups need "
        "world % (ETP × EP × PP) = 0, whatever CP is. An unset expert_tensor_parallel_size counts as TP, which "
        "is the usual surprise.",
        "ETP × EP × PP 能否整除总进程数。专家的布局独立于注意力：无论 CP 多大，都要求 world % (ETP × EP × PP) = 0"
        "。未设置 expert_tensor_parallel_size 时按 TP 计算，这是最常见的疏漏。",
    ),
    "NR244": (
        "the model has {limit} attention heads, which {value} does not divide ({source}): megatron-core refuses it",
        "模型有 {limit} 个注意力头，{value} 不能整除它（{source}）：megatron-core 会拒绝",
    ),
    "NR244.fix": (
        "TP can be one of {choices}",
        "TP 可取：{choices}",
    ),
    "NR244.about": (
        "Whether Megatron's TP divides the model's attention heads. Each tensor parallel rank takes whole heads, "
        "and megatron-core refuses anything else at its start.",
        "Megatron 的 TP 能否整除模型的注意力头数。每个张量并行 rank 只能分到完整的注意力头，否则 megatron-core 在"
        "启动时拒绝。",
    ),
    "NR245": (
        "the model has {limit} key-value heads: neither do they divide {value} nor {value} them ({source})",
        "模型有 {limit} 个 KV 头，与 {value} 互不整除（{source}）",
    ),
    "NR245.fix": (
        "TP can be one of {choices}",
        "TP 可取：{choices}",
    ),
    "NR245.about": (
        "Whether Megatron's TP fits the model's key-value heads. One has to divide the other: heads are shared "
        "out, or repeated, in whole numbers. Models with latent attention (MLA) are not looked at, since theirs "
        "are not cut.",
        "Megatron 的 TP 是否与模型的 KV 头数相容。二者必须一方整除另一方：KV 头只能按整数切分或复制。使用潜在注意"
        "力（MLA）的模型不切分 KV 头，不作检查。",
    ),
    "NR246": (
        "the layers do not fill the pipeline stages: {spelled} ({source})",
        "层数不能均分到流水线各阶段：{spelled}（{source}）",
    ),
    "NR246.fix": (
        "Choose a PP that divides {limit}, or give the ends their own number with "
        "override_transformer_config.num_layers_in_first_pipeline_stage and num_layers_in_last_pipeline_stage",
        "请选择能整除 {limit} 的 PP，或用 override_transformer_config.num_layers_in_first_pipeline_stage 和 "
        "num_layers_in_last_pipeline_stage 为首尾阶段单独设定层数",
    ),
    "NR246.about": (
        "Whether the model's layers can be laid on PP pipeline stages. megatron-core wants the same number on "
        "each, but for a first and a last stage with numbers of their own, and counts embedding and loss as "
        "layers where account_for_…_in_pipeline_split says so. A job with a pipeline_model_parallel_layout is "
        "not looked at.",
        "模型的层能否分配到 PP 个流水线阶段。megatron-core 要求各阶段层数相同，首、尾阶段可以单独设定；设置 "
        "account_for_…_in_pipeline_split 时，嵌入层和损失层也计为一层。使用 pipeline_model_parallel_layout 的作业"
        "不作检查。",
    ),
    "NR247": (
        "virtual_pipeline_model_parallel_size {value} needs a pipeline, but the job has {limit}: megatron-core "
        "ends at its start",
        "virtual_pipeline_model_parallel_size {value} 需要流水线并行，而作业为 {limit}：megatron-core 会在启动时退出",
    ),
    "NR247.fix": (
        "Drop virtual_pipeline_model_parallel_size (null), or set pipeline_model_parallel_size to 2 or more",
        "去掉 virtual_pipeline_model_parallel_size（null），或将 pipeline_model_parallel_size 设为 2 以上",
    ),
    "NR247.about": (
        "Whether virtual pipeline stages are asked for without pipeline parallelism. The interleaved schedule "
        "needs PP of at least 2; with PP 1 megatron-core raises an error while it sets up its groups.",
        "是否在没有流水线并行时要求虚拟流水线。交错调度要求 PP 至少为 2；PP 为 1 时 megatron-core 在建立通信组时报错。",
    ),
    "NR248": (
        "the layers of a stage do not fill its virtual stages: {spelled} ({source})",
        "每阶段的层数不能均分到虚拟阶段：{spelled}（{source}）",
    ),
    "NR248.fix": (
        "Choose a virtual_pipeline_model_parallel_size that divides the layers of every stage, or drop it",
        "请选择能整除每阶段层数的 virtual_pipeline_model_parallel_size，或去掉它",
    ),
    "NR248.about": (
        "Whether virtual pipeline stages get whole layers. The layers of every pipeline stage are cut into "
        "virtual_pipeline_model_parallel_size parts of the same size; megatron-core refuses a remainder.",
        "虚拟流水线阶段能否分到完整的层。每个流水线阶段的层会均分为 virtual_pipeline_model_parallel_size 份；有余"
        "数时 megatron-core 会拒绝。",
    ),
    "NR249": (
        "the model has {limit} experts, which {value} does not divide ({source})",
        "模型有 {limit} 个专家，{value} 不能整除它（{source}）",
    ),
    "NR249.fix": (
        "EP can be one of {choices}",
        "EP 可取：{choices}",
    ),
    "NR249.about": (
        "Whether the trainer's EP divides the model's experts. Every expert parallel rank holds the same number "
        "of them; megatron-core asserts it, VeOmni and torchtitan leave it to the model's parallel plan (a "
        "warning).",
        "训练的 EP 能否整除模型的专家数。每个专家并行 rank 持有相同数量的专家；megatron-core 会断言这一点，"
        "VeOmni 和 torchtitan 取决于模型自身的并行方案（警告）。",
    ),
    "NR250": (
        "{value} is set for a model without experts ({source})",
        "为没有专家的模型设置了 {value}（{source}）",
    ),
    "NR250.fix": (
        "Set {key} to 1",
        "将 {key} 设为 1",
    ),
    "NR250.about": (
        "Whether expert parallelism is asked for a dense model. megatron-core and vLLM refuse it at their start; "
        "other engines may ignore it. Only said of models that certainly have no experts.",
        "是否为稠密模型设置了专家并行。megatron-core 和 vLLM 在启动时拒绝；其他引擎可能忽略它。只对确定没有专家的"
        "模型给出结论。",
    ),
    "NR251": (
        "{value} with {limit} on {core}: releases before 0.13 may cut expert weights by TP while they are loaded "
        "by ETP, which ends in a reshape error",
        "{core} 上 {value} 与 {limit} 不同：0.13 之前的版本可能按 TP 切分专家权重、却按 ETP 加载，最终在 reshape "
        "时报错",
    ),
    "NR251.fix": (
        "Set expert_tensor_parallel_size to TP, or use a stack with a newer megatron-core",
        "将 expert_tensor_parallel_size 设为与 TP 相同，或使用 megatron-core 更新的版本集",
    ),
    "NR251.about": (
        "Whether an old megatron-core is given ETP and TP that differ. On NPUs, weights of experts were seen to "
        "be loaded with other cuts than the modules have. It is no problem where the bridge in use converts them "
        "itself, as in verl's own scripts of that time.",
        "旧版 megatron-core 上 ETP 与 TP 是否不同。在 NPU 上曾出现专家权重的加载切分与模块切分不一致。若所用的 "
        "bridge 自行转换（如当时 verl 自带的脚本），则没有问题。",
    ),
    "NR252": (
        "the ulysses_cp_algo context parallelism needs heads that {value} divides; the model has {limit} ({source})",
        "ulysses_cp_algo 上下文并行要求 {value} 能整除注意力头数；模型有 {limit} 个（{source}）",
    ),
    "NR252.fix": (
        "Choose TP × CP among {choices}, or another context_parallel_algo (megatron_cp_algo, kvallgather_cp_algo)",
        "TP × CP 请取 {choices} 之一，或改用其他 context_parallel_algo（megatron_cp_algo、kvallgather_cp_algo）",
    ),
    "NR252.about": (
        "Whether Ulysses context parallelism can share out the heads. With context_parallel_algo "
        "ulysses_cp_algo, MindSpeed exchanges sequence parts for heads, so TP × CP has to divide the attention "
        "heads. Ring and gather algorithms do not cut heads.",
        "Ulysses 上下文并行能否分配注意力头。context_parallel_algo 为 ulysses_cp_algo 时，MindSpeed 用序列片段换"
        "取注意力头，因此 TP × CP 必须整除注意力头数。环形与聚合算法不切分注意力头。",
    ),
    "NR253": (
        "sequence_parallel is set in override_transformer_config with {limit}: megatron-core refuses sequence "
        "parallelism without tensor parallelism",
        "override_transformer_config 中设置了 sequence_parallel，而作业为 {limit}：megatron-core 拒绝没有张量并行"
        "的序列并行",
    ),
    "NR253.fix": (
        "Drop the override, or set tensor_model_parallel_size to 2 or more",
        "去掉该覆盖项，或将 tensor_model_parallel_size 设为 2 以上",
    ),
    "NR253.about": (
        "Whether sequence parallelism is forced without tensor parallelism. verl switches its own key "
        "megatron.sequence_parallel off where TP is 1, but an override goes to megatron-core as it is, and that "
        "raises an error.",
        "是否在没有张量并行时强制开启序列并行。TP 为 1 时 verl 会关闭自己的 megatron.sequence_parallel，但覆盖项"
        "会原样传给 megatron-core，导致报错。",
    ),
    "NR254": (
        "{value} is larger than a node of {limit} NPUs: every layer then exchanges activations between nodes",
        "{value} 大于单个节点的 {limit} 个 NPU：每一层都要跨节点交换激活值",
    ),
    "NR254.fix": (
        "Keep TP at {limit} or less, and use PP, CP or EP between nodes",
        "请将 TP 控制在 {limit} 以内，跨节点使用 PP、CP 或 EP",
    ),
    "NR254.about": (
        "Whether the trainer's tensor parallel groups span nodes. It works, but is slow and first to hit "
        "collective time-outs. It is no problem on machines whose NPUs form one HCCS domain across nodes.",
        "训练的张量并行组是否跨节点。可以运行，但速度慢，也最先触发集合通信超时。若多个节点的 NPU 属于同一个 "
        "HCCS 域，则没有问题。",
    ),
    "NR255": (
        "the reference model asks for {value}, the actor for {limit}: both live in the same processes, where "
        "Megatron is set up once",
        "参考模型要求 {value}，actor 要求 {limit}：二者位于相同的进程中，而 Megatron 在其中只初始化一次",
    ),
    "NR255.fix": (
        "Give both the same sizes, or drop those of the reference model: by default they follow the actor",
        "让二者取值相同，或去掉参考模型的设置：默认跟随 actor",
    ),
    "NR255.about": (
        "Whether the reference model asks for a Megatron layout other than the actor's. Workers hold both, and "
        "the first of them to start decides for the process; the other is then built with sizes that do not "
        "match its groups. No problem where no reference model is used.",
        "参考模型要求的 Megatron 布局是否与 actor 不同。同一个 worker 同时持有二者，先启动的一个决定整个进程的布"
        "局，另一个则按与通信组不符的规模构建。不使用参考模型时没有问题。",
    ),
    "NR256": (
        "the model has {limit} attention heads, which {value} does not divide ({source})",
        "模型有 {limit} 个注意力头，{value} 不能整除它（{source}）",
    ),
    "NR256.fix": (
        "The Ulysses size can be one of {choices}",
        "Ulysses 规模可取：{choices}",
    ),
    "NR256.about": (
        "Whether the Ulysses sequence parallel size divides the attention heads. Each rank takes whole heads of "
        "the whole sequence; verl asserts it when it patches the model.",
        "Ulysses 序列并行规模能否整除注意力头数。每个 rank 处理整个序列的若干完整注意力头；verl 在修补模型时会断"
        "言这一点。",
    ),
    "NR257": (
        "the model has {limit} key-value heads: neither do they divide {value} nor {value} them ({source})",
        "模型有 {limit} 个 KV 头，与 {value} 互不整除（{source}）",
    ),
    "NR257.fix": (
        "The Ulysses size can be one of {choices}",
        "Ulysses 规模可取：{choices}",
    ),
    "NR257.about": (
        "Whether the Ulysses sequence parallel size fits the key-value heads. verl shares them out, or repeats "
        "each of them, in whole numbers: one has to divide the other.",
        "Ulysses 序列并行规模是否与 KV 头数相容。verl 只能按整数切分或复制 KV 头：二者必须一方整除另一方。",
    ),
    "NR258": (
        "Ulysses sequence parallelism ({limit}) needs use_remove_padding, which is {value}",
        "Ulysses 序列并行（{limit}）需要 use_remove_padding，而它为 {value}",
    ),
    "NR258.fix": (
        "Set actor_rollout_ref.model.use_remove_padding to True, or the Ulysses size to 1",
        "将 actor_rollout_ref.model.use_remove_padding 设为 True，或将 Ulysses 规模设为 1",
    ),
    "NR258.about": (
        "Whether Ulysses sequence parallelism is asked for with padded sequences. verl's FSDP workers cut packed "
        "sequences only, and refuse the combination.",
        "是否在保留填充的情况下要求 Ulysses 序列并行。verl 的 FSDP worker 只能切分去除填充后的序列，会拒绝这种组合。",
    ),
    "NR259": (
        "fsdp_size {value} does not divide {limit} ranks",
        "fsdp_size {value} 不能整除 {limit} 个 rank",
    ),
    "NR259.fix": (
        "Choose a divisor of {limit}, or -1 to shard over all ranks",
        "请选择 {limit} 的约数，或用 -1 在所有 rank 上切分",
    ),
    "NR259.about": (
        "Whether fsdp_size divides the ranks. A size below the number of ranks shards inside groups of that size "
        "and replicates between them, which needs whole groups. -1, or a size of at least all ranks, shards over "
        "all of them.",
        "fsdp_size 能否整除 rank 数。小于 rank 总数时，在该大小的组内切分、组间复制，因此必须能分成完整的组。-1 "
        "或不小于 rank 总数时，在所有 rank 上切分。",
    ),
    "NR270": (
        "{value} without sequence_parallel for a model of {limit} experts ({source}): megatron-core refuses that "
        "in training",
        "模型有 {limit} 个专家（{source}），{value} 却没有开启 sequence_parallel：megatron-core 在训练中会拒绝",
    ),
    "NR270.fix": (
        "Leave sequence_parallel at True, or set tensor_model_parallel_size to 1",
        "请保持 sequence_parallel 为 True，或将 tensor_model_parallel_size 设为 1",
    ),
    "NR270.about": (
        "Whether a model with experts trains with tensor parallelism but without sequence parallelism. "
        "megatron-core raises an error at the first training step. It is a warning where only verl's own key "
        "says so, since some bridges choose by TP alone.",
        "有专家的模型是否在使用张量并行时关闭了序列并行。megatron-core 在第一个训练步报错。若只是 verl 自己的键关"
        "闭了它，则为警告，因为部分 bridge 只按 TP 决定。",
    ),
}
