"""Texts of the reasons that lie in the job: configuration, versions, data, code: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "reason.config_unknown_key": (
        "an argument names a key that the configuration does not have",
        "参数使用了配置中不存在的键",
    ),
    "reason.config_unknown_key.means": (
        "Hydra composes strictly: a key that was renamed, removed or misspelt in this verl release ends the trainer "
        "at once.",
        "Hydra 严格组合配置：在该 verl 版本中被改名、删除或拼错的键会使训练器立即结束。",
    ),
    "reason.config_unknown_key.fix": (
        "Correct the key, or prefix it with + if it is to be new; `npurun check` names the nearest one",
        "请更正该键，如果确实要新增则加前缀 +；`npurun check` 会给出最接近的键",
    ),
    "reason.config_syntax": ("an argument cannot be read by Hydra", "Hydra 无法解析某个参数"),
    "reason.config_syntax.means": (
        "The value breaks the grammar of Hydra's overrides: an unquoted bracket, comma, equals sign, dollar sign or "
        "blank.",
        "该值不符合 Hydra 覆盖语法：未加引号的括号、逗号、等号、美元符号或空格。",
    ),
    "reason.config_syntax.fix": (
        "Quote the value as Hydra wants it; in a job file a plain YAML value is quoted for you",
        "请按 Hydra 的要求给值加引号；在作业文件中直接写 YAML 值会自动加引号",
    ),
    "reason.config_value": ("a setting has a value that is not allowed", "某个设置的值不被允许"),
    "reason.config_value.means": (
        "The trainer or the engine refuses a value, its type, or a combination of settings before training starts.",
        "训练器或引擎在训练开始前拒绝了某个值、其类型，或设置的组合。",
    ),
    "reason.config_value.fix": (
        "Correct the setting that the line names; `npurun check` finds most of these before submitting",
        "请更正该行指出的设置；`npurun check` 在提交前就能发现大部分此类问题",
    ),
    "reason.config_missing": ("a setting that is needed is missing", "缺少必需的设置"),
    "reason.config_missing.means": (
        "A mandatory value was not given, or none of several alternatives was set.",
        "没有给出必需的值，或几个可选项一个都没有设置。",
    ),
    "reason.config_missing.fix": ("Set the key that the line names", "请设置该行指出的键"),
    "reason.option_removed": ("an option is no longer supported by this version", "该版本不再支持某个选项"),
    "reason.option_removed.means": (
        "The setting or variable was removed or replaced in the installed release.",
        "该设置或变量在已安装的版本中被删除或替换。",
    ),
    "reason.option_removed.fix": (
        "Use the new name that the line gives; `npurun explain` and the stack's flags tell what is alive",
        "请使用该行给出的新名称；`npurun explain` 和 stack 的 flag 列表说明哪些仍有效",
    ),
    "reason.model_not_found": ("the model or tokenizer was not found", "找不到模型或分词器"),
    "reason.model_not_found.means": (
        "The path does not exist on the node, and is no name that can be downloaded: then it is taken for the name "
        "of a repository.",
        "该路径在节点上不存在，也不是可以下载的名称：于是被当作仓库名。",
    ),
    "reason.model_not_found.fix": (
        "Put the model at the same path on every node, and check actor_rollout_ref.model.path",
        "请在每个节点的同一路径放置模型，并检查 actor_rollout_ref.model.path",
    ),
    "reason.model_broken": ("the model's files are broken or incomplete", "模型文件损坏或不完整"),
    "reason.model_broken.means": (
        "A weight file is truncated, missing from the index, or its header cannot be read: mostly a download or copy "
        "that was cut off.",
        "权重文件被截断、索引中缺失或文件头无法读取：多为下载或复制中断。",
    ),
    "reason.model_broken.fix": (
        "Compare sizes and checksums with the source and copy the model again on that node",
        "请与来源核对大小和校验和，并在该节点上重新复制模型",
    ),
    "reason.model_unsupported": ("the installed versions do not know this model", "已安装的版本不支持该模型"),
    "reason.model_unsupported.means": (
        "The architecture or model type is unknown to transformers, the rollout engine or Megatron's model registry.",
        "transformers、推理引擎或 Megatron 的模型注册表不认识该架构或模型类型。",
    ),
    "reason.model_unsupported.fix": (
        "Take a stack that supports the model, or install the newer library on all nodes",
        "请使用支持该模型的 stack，或在所有节点上安装更新的库",
    ),
    "reason.batch_not_divisible": ("batch sizes do not divide evenly", "批大小不能整除"),
    "reason.batch_not_divisible.means": (
        "A batch, mini-batch or micro-batch cannot be cut into equal parts over the ranks, agent workers or pipeline "
        "stages.",
        "batch、mini-batch 或 micro-batch 无法在 rank、agent worker 或流水线阶段之间均分。",
    ),
    "reason.batch_not_divisible.fix": (
        "Make the batch (times n) a multiple of what the line names; `npurun check` computes it",
        "请让批大小（乘以 n）成为该行所指数目的倍数；`npurun check` 会计算",
    ),
    "reason.layout_not_divisible": (
        "the parallel sizes do not fit the model or the number of devices",
        "并行度与模型或设备数不匹配",
    ),
    "reason.layout_not_divisible.means": (
        "Heads, layers, experts, vocabulary or the world size cannot be divided by the tensor, pipeline, expert or "
        "context parallel size.",
        "注意力头、层、专家、词表或 world size 不能被张量、流水线、专家或上下文并行度整除。",
    ),
    "reason.layout_not_divisible.fix": (
        "Choose sizes that divide both the model's dimensions and the devices",
        "请选择能同时整除模型维度和设备数的并行度",
    ),
    "reason.length_limits": ("prompt and response lengths exceed a limit of tokens", "提示与回答长度超过 token 限制"),
    "reason.length_limits.means": (
        "Their sum is above the model's context, max_num_batched_tokens, or the tokens per device that training may "
        "pack.",
        "两者之和超过模型上下文、max_num_batched_tokens，或训练时每个设备可容纳的 token 数。",
    ),
    "reason.length_limits.fix": (
        "Raise the limit that the line names, or lower data.max_prompt_length or data.max_response_length",
        "请提高该行指出的限制，或减小 data.max_prompt_length 或 data.max_response_length",
    ),
    "reason.shape_mismatch": ("tensors of different shapes or devices met", "张量的形状或设备不一致"),
    "reason.shape_mismatch.means": (
        "Two tensors do not fit together: sizes, types or devices differ. Mostly a layout, model code or weights "
        "that do not belong together.",
        "两个张量不匹配：大小、类型或设备不同。多为并行布局、模型代码或权重不配套。",
    ),
    "reason.shape_mismatch.fix": (
        "Look at the first traceback: compare the parallel layout and the model's files with the versions",
        "请查看第一个 traceback：核对并行布局、模型文件与版本",
    ),
    "reason.not_finite": ("NaN or infinity in loss, gradients or probabilities", "损失、梯度或概率中出现 NaN 或无穷"),
    "reason.not_finite.means": (
        "Training diverged, or a kernel gives wrong values in this precision; going on from the last checkpoint "
        "gives the same again.",
        "训练发散，或算子在该精度下给出错误值；从上一个检查点继续会再次出现。",
    ),
    "reason.not_finite.fix": (
        "Lower the learning rate or clip more; look at grad_norm before the step, and at the data of it",
        "请降低学习率或加强裁剪；查看该步之前的 grad_norm 和该步的数据",
    ),
    "reason.ray_version_mismatch": (
        "the trainer's Ray or Python differs from the cluster's",
        "训练器的 Ray 或 Python 与集群不同",
    ),
    "reason.ray_version_mismatch.means": (
        "A driver must have the very version of Ray and the Python minor version that the cluster was started with.",
        "driver 必须与集群启动时的 Ray 版本和 Python 次版本完全一致。",
    ),
    "reason.ray_version_mismatch.fix": (
        "Use the same image on all nodes and for the driver",
        "请在所有节点和 driver 上使用同一镜像",
    ),
    "reason.module_missing": ("a Python module is not installed", "缺少 Python 模块"),
    "reason.module_missing.means": (
        "The worker's Python lacks a module: another virtual environment, a node without the package, or a release "
        "that moved it.",
        "worker 的 Python 缺少某个模块：虚拟环境不同、节点未安装，或新版本中已移动。",
    ),
    "reason.module_missing.fix": (
        "Install it on every node in the Python that Ray uses, in the stack's version",
        "请在每个节点上 Ray 所用的 Python 中安装 stack 指定的版本",
    ),
    "reason.import_failed": (
        "a name cannot be imported: versions do not belong together",
        "无法导入某个名称：版本不配套",
    ),
    "reason.import_failed.means": (
        "A library asks another for a name that this release does not have.",
        "一个库向另一个库导入该版本中不存在的名称。",
    ),
    "reason.import_failed.fix": (
        "Install the versions of one stack (`npurun stacks`) on all nodes",
        "请在所有节点上安装同一 stack 的版本（`npurun stacks`）",
    ),
    "reason.library_missing": ("a shared library cannot be loaded", "无法加载共享库"),
    "reason.library_missing.means": (
        "The loader does not find a .so file, or one without the symbol that is needed: set_env.sh was not sourced "
        "before `ray start`, or versions differ.",
        "加载器找不到 .so 文件，或其中没有所需符号：`ray start` 之前没有 source set_env.sh，或版本不同。",
    ),
    "reason.library_missing.fix": (
        "Source the set_env.sh of CANN and NNAL in the shell that runs `ray start`, then restart Ray on the node",
        "请在运行 `ray start` 的 shell 中 source CANN 和 NNAL 的 set_env.sh，然后重启该节点的 Ray",
    ),
    "reason.api_changed": ("a library has another interface than its caller expects", "库的接口与调用方预期不同"),
    "reason.api_changed.means": (
        "An argument, attribute or method is missing: two libraries of different releases meet, e.g. verl and the "
        "rollout engine.",
        "缺少参数、属性或方法：不同版本的库相遇，例如 verl 与推理引擎。",
    ),
    "reason.api_changed.fix": (
        "Install the versions of one stack on all nodes; restart Ray so that no old module stays loaded",
        "请在所有节点上安装同一 stack 的版本；重启 Ray 以免旧模块仍被加载",
    ),
    "reason.operator_unsupported": (
        "an operator does not exist for this device or type",
        "该设备或数据类型不支持某个算子",
    ),
    "reason.operator_unsupported.means": (
        "The kernel is missing in this CANN or torch_npu, or does not take this type or shape.",
        "该 CANN 或 torch_npu 中没有该算子，或不支持此类型或形状。",
    ),
    "reason.operator_unsupported.fix": (
        "Use the CANN and torch_npu of the stack, or switch the feature off that needs the operator",
        "请使用 stack 指定的 CANN 与 torch_npu，或关闭需要该算子的功能",
    ),
    "reason.cann_missing": (
        "CANN is not there or not set up in the worker's environment",
        "worker 环境中没有 CANN 或未设置",
    ),
    "reason.cann_missing.means": (
        "ASCEND_HOME_PATH and the library paths come from set_env.sh; workers inherit what the shell of `ray start` "
        "had.",
        "ASCEND_HOME_PATH 和库路径来自 set_env.sh；worker 继承 `ray start` 所在 shell 的环境。",
    ),
    "reason.cann_missing.fix": (
        "Source CANN's set_env.sh before `ray start` on every node, then restart Ray there",
        "请在每个节点上 `ray start` 之前 source CANN 的 set_env.sh，然后重启 Ray",
    ),
    "reason.driver_mismatch": (
        "driver, firmware and CANN of a node do not belong together",
        "某个节点的驱动、固件与 CANN 不匹配",
    ),
    "reason.driver_mismatch.means": (
        "The NPU driver or firmware is older than this CANN needs, or differs from the other nodes.",
        "NPU 驱动或固件低于该 CANN 的要求，或与其他节点不同。",
    ),
    "reason.driver_mismatch.fix": (
        "Install the driver and firmware that the CANN release names; compare with `npurun doctor`",
        "请安装 CANN 版本要求的驱动和固件；用 `npurun doctor` 比较",
    ),
    "reason.data_missing": ("a data file is not there", "数据文件不存在"),
    "reason.data_missing.means": (
        "A path in data.train_files or data.val_files does not exist on the node that reads it.",
        "data.train_files 或 data.val_files 中的路径在读取它的节点上不存在。",
    ),
    "reason.data_missing.fix": (
        "Put the files at the same path on every node, and check the spelling",
        "请在每个节点的同一路径放置文件，并检查拼写",
    ),
    "reason.data_unreadable": ("a data file cannot be read", "数据文件无法读取"),
    "reason.data_unreadable.means": (
        "The file is no parquet or JSON, was cut off, or has columns of mixed types.",
        "文件不是 parquet 或 JSON、被截断，或列的类型混杂。",
    ),
    "reason.data_unreadable.fix": (
        "Read it with pandas on one node; write it anew from its source",
        "请在一个节点上用 pandas 读取；从来源重新生成",
    ),
    "reason.data_column_missing": ("a column or field is missing in the data", "数据缺少某一列或字段"),
    "reason.data_column_missing.means": (
        "verl needs prompt, data_source and reward_model in each row, in the training and the validation files.",
        "verl 要求训练与验证文件的每一行都有 prompt、data_source 和 reward_model。",
    ),
    "reason.data_column_missing.fix": (
        "Run the preprocessing script of the data set for both files; set data.prompt_key if the column has another "
        "name",
        "请对两个文件都运行该数据集的预处理脚本；列名不同时设置 data.prompt_key",
    ),
    "reason.data_empty": ("no data is left to train on", "没有可用于训练的数据"),
    "reason.data_empty.means": (
        "The files are empty, every prompt was filtered out as too long, or a batch is larger than the data set.",
        "文件为空、所有提示因过长被过滤，或批大小超过数据集。",
    ),
    "reason.data_empty.fix": (
        "Raise data.max_prompt_length, lower data.train_batch_size or look at the files",
        "请增大 data.max_prompt_length、减小 data.train_batch_size，或检查文件",
    ),
    "reason.prompt_too_long": ("a prompt is longer than allowed", "某个提示超过允许的长度"),
    "reason.prompt_too_long.means": (
        "With data.truncation=error one prompt above data.max_prompt_length ends the run; the engine refuses prompts "
        "above its context.",
        "data.truncation=error 时，一个超过 data.max_prompt_length 的提示就会使运行结束；引擎也会拒绝超过上下文的提"
        "示。",
    ),
    "reason.prompt_too_long.fix": (
        "Set data.filter_overlong_prompts=True, another data.truncation, or a larger data.max_prompt_length",
        "请设置 data.filter_overlong_prompts=True、其他 data.truncation，或增大 data.max_prompt_length",
    ),
    "reason.tokenizer_failed": ("the tokenizer or chat template failed", "分词器或对话模板出错"),
    "reason.tokenizer_failed.means": (
        "The tokenizer's files are missing or of another version, or its chat template does not take these messages.",
        "分词器文件缺失或版本不同，或其对话模板不接受这些消息。",
    ),
    "reason.tokenizer_failed.fix": (
        "Look at the model's tokenizer files and chat template; set a template if it has none",
        "请检查模型的分词器文件与对话模板；没有模板时请设置一个",
    ),
    "reason.reward_error": ("the reward function raised an error", "奖励函数抛出异常"),
    "reason.reward_error.means": (
        "The code that scores answers failed. verl may only say later that there are no trajectories to train on.",
        "为回答打分的代码出错。verl 随后可能只报告没有可用于训练的轨迹。",
    ),
    "reason.reward_error.fix": (
        "Correct the reward function at the line in the traceback: answers can hold anything, also nothing",
        "请在 traceback 所指的行修正奖励函数：回答可能是任何内容，包括空内容",
    ),
    "reason.reward_not_found": ("the reward function was not found", "找不到奖励函数"),
    "reason.reward_not_found.means": (
        "The file of custom_reward_function.path is not on the node, lacks the function, or no default exists for "
        "this data_source.",
        "custom_reward_function.path 的文件不在节点上、缺少该函数，或该 data_source 没有默认奖励。",
    ),
    "reason.reward_not_found.fix": (
        "Put the file on every node, check the function's name, or give a reward function for the data source",
        "请在每个节点放置该文件并检查函数名，或为该数据源提供奖励函数",
    ),
    "reason.user_exception": ("code raised an error that is nobody else's", "代码抛出异常"),
    "reason.user_exception.means": (
        "A Python exception that is neither the machine's nor a known one of a library: the same will come again.",
        "既不是机器问题也不是库的已知问题的 Python 异常：重试会再次出现。",
    ),
    "reason.user_exception.fix": (
        "Read the traceback, correct the code or the setting and resume",
        "请阅读 traceback，修正代码或设置后继续",
    ),
}
