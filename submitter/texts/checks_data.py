"""Texts of the rules on data files and the model's folder (NR341 to NR359): id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR341": (
        "{key} names {value}, but verl's dataset reads {limit} only",
        "{key} 指定了 {value}，而 verl 的数据集只读取 {limit}",
    ),
    "NR341.fix": (
        "Convert the file, or name a dataset of your own under data.custom_cls",
        "请转换该文件的格式，或通过 data.custom_cls 指定自己的数据集类",
    ),
    "NR341.about": (
        "Formats of data files. verl chooses the reader by the end of the file's name and stops at any other than "
        ".parquet, .json and .jsonl, after the nodes are taken. A dataset class of your own (data.custom_cls) may read "
        "what it likes.",
        "数据文件的格式。verl 按文件名后缀选择读取方式，遇到 .parquet、.json、.jsonl 以外的后缀会报错，"
        "而此时节点已被占用。"
        "自定义数据集类（data.custom_cls）不受此限制。",
    ),
    "NR342": ("{value} cannot be read: {why}", "无法读取 {value}：{why}"),
    "NR342.fix": (
        "Write or copy the file anew, and compare its size and checksum with the original",
        "请重新生成或复制该文件，并与原文件核对大小和校验和",
    ),
    "NR342.nul": ("its path has a NUL character", "路径中有 NUL 字符"),
    "NR342.zero": ("it has 0 bytes", "大小为 0 字节"),
    "NR342.pointer": (
        "it is a git-lfs pointer; the data was not pulled",
        "它是 git-lfs 指针文件，尚未拉取实际数据",
    ),
    "NR342.not_whole": (
        "it is no whole parquet file: its first or last 4 bytes are not PAR1",
        "不是完整的 parquet 文件：开头或末尾的 4 个字节不是 PAR1",
    ),
    "NR342.blank": ("it has no rows: 0 bytes, or white space only", "没有数据行：0 字节，或只有空白字符"),
    "NR342.no_json": ("its first row is no JSON: {why}", "第一行不是 JSON：{why}"),
    "NR342.no_object": ("its first row is no JSON object", "第一行不是 JSON 对象"),
    "NR342.no_file": ("it is a folder, a pipe or a device, not a file", "它是目录、管道或设备，不是文件"),
    "NR342.unknown": (
        "not on this machine, so its columns and rows are not looked at, and the nodes are not looked at: {paths}. "
        "Run the check where the path is mounted",
        "不在本机上，因此未检查其列和行，也未检查各节点：{paths}。请在挂载了该路径的机器上运行检查",
    ),
    "NR342.no_reader": (
        "pyarrow is not installed, so the columns and rows are not looked at: {paths}. Run pip install 'npurun[data]'",
        "未安装 pyarrow，因此未检查其列和行：{paths}。请运行 pip install 'npurun[data]'",
    ),
    "NR342.about": (
        "Data files that are here but damaged. Only the ends and the footer of a parquet file are read, and the first "
        "row of a JSON file; an empty, cut or git-lfs pointer file is told. A file that only the nodes have is not "
        "looked at.",
        "在本机上但已损坏的数据文件。parquet 只读取首尾和元数据，JSON 只读取第一行；空文件、不完整的文件和 git-lfs "
        "指针文件都会被指出。只存在于节点上的文件不会被检查。",
    ),
    "NR343": (
        "{key}: {value} is not here, although its folder is",
        "{key}：{value} 不存在，而它所在的目录存在",
    ),
    "NR343.fix": (
        "Correct the name; ignore this if the nodes keep another folder at that path",
        "请更正文件名；如果各节点在该路径下是另一个目录，可忽略此项",
    ),
    "NR343.about": (
        "Data files that are missing from a folder that is here. On storage that this machine shares with the nodes it "
        "is a misspelt name, and verl fails when it loads the data. It is no problem when the nodes have a folder of "
        "their own there.",
        "目录存在但文件缺失。如果本机与节点共享存储，那就是文件名写错了，verl 加载数据时会失败。"
        "如果节点在该路径下有自己的目录，则没有问题。",
    ),
    "NR344": ("{value} has 0 rows", "{value} 有 0 行数据"),
    "NR344.fix": ("Write the file anew, or drop it from {key}", "请重新生成该文件，或将其从 {key} 中去掉"),
    "NR344.about": (
        "Data files without a row. verl stops when the training or the validation set has no batch. An empty file "
        "among others is only told, since the others count.",
        "没有任何行的数据文件。训练集或验证集没有批次时，verl 会停止。如果还有其他文件，则只作提示，"
        "因为其他文件仍然有效。",
    ),
    "NR345": (
        "{files} training file(s) have {value} rows, fewer than one batch of {batch}: the incomplete batch is dropped, "
        'so there is no step ("Train dataloader is empty!")',
        "{files} 个训练文件共 {value} 行，不足一个批次 {batch}：不完整的批次会被丢弃，因此一步都不会训练"
        "（“Train dataloader is empty!”）",
    ),
    "NR345.fix": ("Set {key} to at most {value}, or add data", "请将 {key} 设为不超过 {value}，或增加数据"),
    "NR345.about": (
        "Rows of the training files against data.train_batch_size (or data.gen_batch_size). verl's loader drops the "
        "last, incomplete batch, so with fewer rows than a batch nothing is left. Prompts that "
        "data.filter_overlong_prompts removes are not counted here and make it worse.",
        "训练文件的行数与 data.train_batch_size（或 data.gen_batch_size）的比较。verl "
        "的加载器会丢弃最后一个不完整的批次，"
        "因此行数少于一个批次时什么也不剩。此处未计入被 data.filter_overlong_prompts 去掉的提示，它们会使行数更少。",
    ),
    "NR346": (
        "{value} has no column {prompt_key} (data.prompt_key); its columns: {limit}{raw}",
        "{value} 没有 {prompt_key} 列（data.prompt_key）；它的列有：{limit}{raw}",
    ),
    "NR346.fix": (
        "Preprocess the file into verl's form (examples/data_preprocess in verl), or correct data.prompt_key",
        "请将该文件预处理为 verl 的格式（verl 的 examples/data_preprocess），或更正 data.prompt_key",
    ),
    "NR346.raw": (
        " (this looks like GSM8K as it is published, not preprocessed)",
        "（看起来是未经预处理的原始 GSM8K）",
    ),
    "NR346.about": (
        "The column of prompts in every training and validation file. Without it verl fails at the first batch, or, "
        "with data.filter_overlong_prompts, drops every row and finds the set empty. Validation files count only when "
        "the job validates or filters.",
        "每个训练文件和验证文件中的提示列。缺少该列时，verl 在第一个批次失败；启用 data.filter_overlong_prompts 时，"
        "则会丢弃所有行并发现数据集为空。验证文件只在作业会验证或过滤时才检查。",
    ),
    "NR347": (
        "{value}: the column {prompt_key} is {limit}, not a list of messages with role and content",
        "{value}：{prompt_key} 列的类型是 {limit}，不是由 role 和 content 组成的消息列表",
    ),
    "NR347.fix": (
        'Write each prompt as a chat, e.g. [{{"role": "user", "content": …}}], as verl\'s examples/data_preprocess do',
        '请将每条提示写成对话，例如 [{{"role": "user", "content": …}}]，可参考 verl 的 examples/data_preprocess',
    ),
    "NR347.about": (
        "The type of the prompts. verl applies the model's chat template to each, which takes a list of messages; "
        "plain "
        "text fails at the first rollout or is dropped by the length filter. A dataset class of your own may convert "
        "it.",
        "提示列的类型。verl 会对每条提示套用模型的对话模板，模板需要消息列表；纯文本会在第一次生成时失败，"
        "或被长度过滤丢弃。"
        "自定义数据集类可以自行转换。",
    ),
    "NR348": (
        "{value} lacks {missing}, which verl's reward managers read for every answer; its columns: {limit}{raw}",
        "{value} 缺少 {missing}，而 verl 的奖励管理器对每个回答都要读取它；它的列有：{limit}{raw}",
    ),
    "NR348.fix": (
        "Preprocess the file: data_source (text) and reward_model with the field ground_truth",
        "请预处理该文件：添加 data_source（文本）和带 ground_truth 字段的 reward_model",
    ),
    "NR348.about": (
        "The columns that rewards are computed from. The reward managers of verl 0.7.1 and later read data_source and "
        "reward_model.ground_truth also for a reward function of your own, so the run fails after its first rollout. "
        "A reward model alone, or a reward manager of your own, does not need them.",
        "计算奖励所需的列。verl 0.7.1 及以后的奖励管理器即使配合自定义奖励函数，也会读取 data_source 和 "
        "reward_model.ground_truth，因此作业会在第一次生成之后失败。只用奖励模型，"
        "或使用自定义奖励管理器时不需要这些列。",
    ),
    "NR349": (
        "{key}: {value} is relative, and {where}; the trainer starts in a folder that Ray makes on one of the nodes",
        "{key}：{value} 是相对路径，而{where}；训练器在某个节点上由 Ray 创建的目录中启动",
    ),
    "NR349.folder": (
        "the job's working_dir ({folder}) does not hold it",
        "作业的 working_dir（{folder}）中没有它",
    ),
    "NR349.none": ("the job has no working_dir", "作业没有 working_dir"),
    "NR349.fix": (
        "Give the absolute path on storage that all nodes share",
        "请填写所有节点共享的存储上的绝对路径",
    ),
    "NR349.about": (
        "Relative data paths. They are looked up in the folder that Ray makes for the job, which holds the job's "
        "working_dir and nothing else. Small files that travel in the working_dir are found and are no problem.",
        "相对的数据路径。它们在 Ray 为作业创建的目录中查找，该目录只包含作业的 working_dir。"
        "随 working_dir 一起发送的小文件可以找到，没有问题。",
    ),
    "NR350": (
        "data.reward_fn_key={value} is not looked at: the reward managers read the column {limit} by that name",
        "data.reward_fn_key={value} 不起作用：奖励管理器固定读取名为 {limit} 的列",
    ),
    "NR350.fix": (
        "Rename the column to data_source in the files, and drop the setting",
        "请在文件中将该列改名为 data_source，并去掉此设置",
    ),
    "NR350.about": (
        "The setting that once named the column of data sources. Since verl 0.7.1 the reward managers of the reward "
        "loop read data_source by name. It does no harm when the files have that column too.",
        "过去用来指定数据来源列的设置。从 verl 0.7.1 起，奖励循环的管理器固定读取 data_source 列。"
        "如果文件中同样有该列，则没有影响。",
    ),
    "NR351": (
        "{value} has no column {image_key} (data.image_key), so <image> stays plain text; its columns: {limit}",
        "{value} 没有 {image_key} 列（data.image_key），因此 <image> 会保留为普通文本；它的列有：{limit}",
    ),
    "NR351.fix": ("Set data.image_key to the column that holds the images", "请将 data.image_key 设为存放图片的列"),
    "NR351.about": (
        "The column of images. verl takes the images of a row from data.image_key and silently goes on without them "
        "when there is no such column. Text-only files are no problem; they are not told unless the job sets "
        "data.image_key.",
        "图片所在的列。verl 从 data.image_key 指定的列取图片，没有该列时会静默地继续。"
        "纯文本文件没有问题；除非作业设置了 data.image_key，否则不会提示。",
    ),
    "NR352": (
        "multi_turn is on, but {value} has no column agent_name and default_agent_loop is {limit}: no tool is ever "
        "called",
        "已启用 multi_turn，但 {value} 没有 agent_name 列，且 default_agent_loop 是 {limit}：不会调用任何工具",
    ),
    "NR352.fix": (
        "Set actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent, or add a column agent_name",
        "请设置 actor_rollout_ref.rollout.agent.default_agent_loop=tool_agent，或添加 agent_name 列",
    ),
    "NR352.about": (
        "Which agent loop answers a prompt. verl takes it from the column agent_name, else from default_agent_loop, "
        "whose default answers in a single turn without tools. Single-turn jobs are not told.",
        "由哪个 agent loop 回答提示。verl 先看 agent_name 列，否则用 default_agent_loop，其默认值只进行单轮回答、"
        "不用工具。"
        "单轮作业不会提示。",
    ),
    "NR353": ("the model's folder {value}: {why}", "模型目录 {value}：{why}"),
    "NR353.fix": (
        "Name the folder that holds config.json, tokenizer and weights, and copy the model anew if files are damaged",
        "请填写包含 config.json、分词器和权重的目录；如果文件已损坏，请重新复制模型",
    ),
    "NR353.no_folder": ("it is no folder", "它不是目录"),
    "NR353.absent": ("config.json is missing", "缺少 config.json"),
    "NR353.broken": ("config.json is no valid JSON object", "config.json 不是有效的 JSON 对象"),
    "NR353.unknown": (
        "the model {path} is not on this machine, so its files are not looked at, and the nodes are not looked at. Run "
        "the check where it is mounted",
        "模型 {path} 不在本机上，因此未检查其文件，也未检查各节点。请在挂载了它的机器上运行检查",
    ),
    "NR353.about": (
        "The model's folder and its config.json. Every worker reads it first; without it the run ends after the nodes "
        "are taken. A name on the Hugging Face hub is looked up in the cache only.",
        "模型目录及其 config.json。每个工作进程都首先读取它；缺少它时，作业会在占用节点之后结束。"
        "Hugging Face hub 上的名称只在缓存中查找。",
    ),
    "NR354": (
        "the model {value} is not here, although the folder around it is",
        "模型 {value} 不存在，而它的上级目录存在",
    ),
    "NR354.fix": (
        "Correct the name; ignore this if the nodes keep another folder at that path",
        "请更正名称；如果各节点在该路径下是另一个目录，可忽略此项",
    ),
    "NR354.about": (
        "A model that is missing from a folder that is here. transformers takes a path that does not exist for a name "
        "on the hub, and its error says so only indirectly. It is no problem when the nodes have a folder of their own "
        "there.",
        "上级目录存在但模型缺失。transformers 会把不存在的路径当成 hub 上的名称，其报错并不直接。"
        "如果节点在该路径下有自己的目录，则没有问题。",
    ),
    "NR355": ("the weights of {value} are not whole: {bad}", "{value} 的权重不完整：{bad}"),
    "NR355.fix": (
        "Copy or download the named files again and compare their checksums",
        "请重新复制或下载上述文件，并核对校验和",
    ),
    "NR355.index": ("the index {files} is no valid JSON object", "索引 {files} 不是有效的 JSON 对象"),
    "NR355.missing": (
        "of the {count} files that the index names, these are missing: {files}",
        "索引列出 {count} 个文件，其中缺少：{files}",
    ),
    "NR355.empty": ("these have 0 bytes: {files}", "以下文件为 0 字节：{files}"),
    "NR355.pointer": (
        "these are git-lfs pointers, the weights were not pulled: {files}",
        "以下文件是 git-lfs 指针，权重尚未拉取：{files}",
    ),
    "NR355.none": ("there is no {files} or other file of weights", "没有 {files} 或其他权重文件"),
    "NR355.about": (
        "The files of weights against the index that names them. A missing or empty shard ends the run minutes into "
        "loading, on each node. Sizes are looked at, never contents; jobs that load Megatron's distributed checkpoint "
        "are not told.",
        "权重文件与索引的对照。缺少分片或分片为空，会使作业在加载数分钟后在各节点上失败。只看大小，不看内容；"
        "加载 Megatron 分布式检查点的作业不作此检查。",
    ),
    "NR356": (
        "the model's folder {value} has no tokenizer (none of {limit})",
        "模型目录 {value} 中没有分词器（{limit} 均不存在）",
    ),
    "NR356.fix": (
        "Copy the tokenizer's files into it, or set actor_rollout_ref.model.tokenizer_path",
        "请将分词器文件复制到该目录，或设置 actor_rollout_ref.model.tokenizer_path",
    ),
    "NR356.about": (
        "The tokenizer in the model's folder. A folder with weights alone, as some checkpoints are, cannot be trained "
        "from. It is not told when actor_rollout_ref.model.tokenizer_path names another folder.",
        "模型目录中的分词器。只有权重的目录（例如某些检查点）无法用于训练。"
        "如果 actor_rollout_ref.model.tokenizer_path 指定了其他目录，则不会提示。",
    ),
    "NR357": (
        "the tokenizer of {value} has no chat template (looked in {limit}); verl applies one to every prompt",
        "{value} 的分词器没有对话模板（已查找 {limit}）；verl 会对每条提示套用模板",
    ),
    "NR357.fix": (
        "Use the instruct model, add chat_template.jinja to the folder, or set "
        "actor_rollout_ref.model.custom_chat_template",
        "请使用 instruct 模型，在目录中添加 chat_template.jinja，或设置 actor_rollout_ref.model.custom_chat_template",
    ),
    "NR357.about": (
        "The chat template of the model's tokenizer. GRPO data are chats, so verl calls apply_chat_template, which "
        "raises without one; base models often have none. Models whose chat format is code of their own are not told.",
        "模型分词器的对话模板。GRPO 数据是对话，verl 会调用 apply_chat_template，没有模板时会报错；"
        "基座模型常常没有模板。"
        "对话格式由自带代码实现的模型不会提示。",
    ),
    "NR358": (
        "{path} brings code of its own (auto_map in config.json, model_type {limit}), but trust_remote_code is {value}",
        "{path} 自带代码（config.json 中有 auto_map，model_type 为 {limit}），但 trust_remote_code 是 {value}",
    ),
    "NR358.fix": (
        "Read that code, then set actor_rollout_ref.model.trust_remote_code=True",
        "请先审阅该代码，再设置 actor_rollout_ref.model.trust_remote_code=True",
    ),
    "NR358.about": (
        "Models whose classes come with the weights. transformers refuses to run such code unless it is trusted, so "
        "the "
        "run ends while it loads. For a model type that recent transformers know themselves it is a warning: an older "
        "one may need the code.",
        "类定义随权重一起发布的模型。transformers 未经许可不会运行这类代码，因此作业会在加载时结束。"
        "对于较新的 transformers 自身支持的模型类型只给出警告：旧版本可能需要该代码。",
    ),
    "NR359": (
        "the model path {value} is relative to a folder that Ray makes for each worker",
        "模型路径 {value} 是相对路径，相对于 Ray 为每个工作进程创建的目录",
    ),
    "NR359.fix": (
        "Give the absolute path on storage that all nodes share",
        "请填写所有节点共享的存储上的绝对路径",
    ),
    "NR359.about": (
        "Relative model paths. Workers on other nodes start in folders of their own, so ./model is looked up there and "
        "then on the hub. A name of the form owner/model is taken for one on the hub and is not told.",
        "相对的模型路径。其他节点上的工作进程在各自的目录中启动，./model 会先在那里、再在 hub 上查找。"
        "形如 owner/model 的名称视为 hub 上的名称，不会提示。",
    ),
    "NR360": (
        "{what}: verl makes a training and a validation set at its start, and both need files",
        "{what}：verl 启动时会建立训练集和验证集，二者都需要文件",
    ),
    "NR360.nothing": ("{key}={value}", "{key}={value}"),
    "NR360.default": (
        "the job does not set {key}, and verl's own {path} is on few nodes",
        "作业没有设置 {key}，而 verl 的默认值 {path} 在多数节点上并不存在",
    ),
    "NR360.fix": (
        "Name at least one parquet or JSON file; for validation the training file will do with trainer.test_freq=-1",
        "请至少写一个 parquet 或 JSON 文件；不做验证时，可写训练文件并设置 trainer.test_freq=-1",
    ),
    "NR360.about": (
        "Data files that are set to nothing, or left to verl's default below ~/data/rlhf (a warning). "
        "verl opens the training and the validation files before the first step, whether it "
        "validates or not, and ends there. No problem with a dataset of your own (data.custom_cls).",
        "数据文件被设为空，或留给 verl 的默认路径 ~/data/rlhf（警告，因为节点上也可能放有这些文件）。无论是否验证，"
        "verl 在第一步之前都会打开训练和验证文件，因此会报错结束。使用自己的数据集类（data.custom_cls）时没有问题。",
    ),
    "NR340": (
        "{what}: no trainer starts without a model",
        "{what}：没有模型就无法启动训练",
    ),
    "NR340.default": (
        "actor_rollout_ref.model.path is verl's default, the placeholder {path}, which no node has",
        "actor_rollout_ref.model.path 是 verl 的默认占位路径 {path}，各节点上都没有",
    ),
    "NR340.empty": (
        "actor_rollout_ref.model.path is {path}",
        "actor_rollout_ref.model.path 为 {path}",
    ),
    "NR340.fix": (
        "Set actor_rollout_ref.model.path to the model's folder on the nodes, or to its name on the Hugging Face hub",
        "请将 actor_rollout_ref.model.path 设为节点上的模型目录，或 Hugging Face hub 上的模型名",
    ),
    "NR340.about": (
        "The model's path, where the job does not give one. verl's default is the name of a folder that somebody had "
        "once; every worker ends with it minutes after the start. No problem with a configuration of your own "
        "(--config-path), which is not read here.",
        "作业没有给出的模型路径。verl 的默认值是某个目录名，各节点上都没有，所有工作进程会在启动几分钟后因此结束。"
        "使用自己的配置（--config-path）时没有问题，此处不读取它。",
    ),
    "NR338": (
        "{value} has rows of data_source {sources}, for which verl has no reward function: the first such answer ends "
        "the run with NotImplementedError",
        "{value} 中有 data_source 为 {sources} 的行，而 verl 没有对应的奖励函数：第一个此类回答"
        "会以 NotImplementedError 结束训练",
    ),
    "NR338.fix": (
        "Give a function by reward.custom_reward_function.path and .name, or write a data_source that verl knows, such "
        "as openai/gsm8k or math_dapo",
        "请用 reward.custom_reward_function.path 和 .name 给出奖励函数，或将 data_source 改为 verl 认识的名称，"
        "例如 openai/gsm8k 或 math_dapo",
    ),
    "NR338.about": (
        "The values of the column data_source, where a parquet file can be read here. verl's own reward function "
        "chooses by them and knows two dozen; the first 100000 rows of a file are looked at. No problem with a reward "
        "function or a reward model of your own; a warning where your own code may replace verl's function.",
        "data_source 列的取值（在此处能读取 parquet 文件时）。verl 自带的奖励函数按它选择，只认识二十多种；"
        "每个文件只查看前 100000 行。使用自己的奖励函数或奖励模型时没有问题；自己的代码可能替换 verl 的函数时为警告。",
    ),
}
