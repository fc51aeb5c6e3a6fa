"""Texts of the path probes: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR551": (
        "files of the model that are missing or of no use on node {node}: {count}: {value}",
        "节点 {node} 上缺少或不可用的模型文件（{count} 个）：{value}",
    ),
    "NR551.fix": (
        "Copy the folder again from a node that has it (`rsync -a --checksum`), or mount the file system there",
        "从完整的节点重新复制该目录（`rsync -a --checksum`），或在该节点挂载对应的文件系统",
    ),
    "NR551.about": (
        "config.json, and every shard that the index names: there, not empty, no Git LFS pointer, and as long as its "
        "own header says. A rank that lacks one fails after the others have loaded theirs.",
        "检查 config.json 以及索引列出的每个分片：存在、非空、不是 Git LFS 指针、长度与其文件头一致。"
        "缺少分片的 rank 会在其他 rank 加载完成后才失败。",
    ),
    "NR552": (
        "the weights on node {node} ({value}) are not those of other nodes ({limit})",
        "节点 {node} 上的权重（{value}）与其他节点（{limit}）不同",
    ),
    "NR552.fix": (
        "Compare `sha256sum *.safetensors` there with another node, and copy the right ones",
        "将该节点的 `sha256sum *.safetensors` 与其他节点对比，并复制正确的文件",
    ),
    "NR552.about": (
        "Names and sizes of the files that loading takes, and a sample from the middle of each. Ranks would start from "
        "different weights without a word.",
        "比较加载时使用的权重文件的名称、大小以及中部抽样内容。若不同，各 rank "
        "会在毫无提示的情况下从不同权重开始训练。",
    ),
    "NR553": (
        "file {value} on node {node}: {why}",
        "节点 {node} 上的文件 {value}：{why}",
    ),
    "NR553.fix": (
        "Copy it to the same path on every node, or mount the file system there; for columns see data.prompt_key",
        "将其复制到每个节点的相同路径，或在该节点挂载文件系统；列名见 data.prompt_key",
    ),
    "NR553.about": (
        "verl's driver may run on any node of the gang, and opens every data file and tool configuration there. "
        "Columns are read where pyarrow is installed.",
        "verl 的驱动进程可能运行在任意节点，并在该节点打开所有数据文件和工具配置。安装了 pyarrow 时会检查列名。",
    ),
    "probe.not_there": ("it is not there", "文件不存在"),
    "probe.no_file": ("it is no file", "不是文件"),
    "probe.no_parquet": ("it is no parquet file", "不是 parquet 文件"),
    "probe.no_column": ("no column {columns}", "缺少列 {columns}"),
    "probe.not_kept": ("what was written is not what is read", "读回的内容与写入的不一致"),
    "NR554": (
        "nothing can be written to {value} on node {node}: {why}",
        "节点 {node} 无法写入 {value}：{why}",
    ),
    "NR554.fix": (
        "Look at `df -h` and `ls -ld` of the folder there, as the user that runs Ray",
        "以运行 Ray 的用户在该节点查看该目录的 `df -h` 与 `ls -ld`",
    ),
    "NR554.about": (
        "A small file is written, read back and removed in each folder for checkpoints and logs, or in the nearest one "
        "above that exists. For logs it is a warning.",
        "在每个检查点和日志目录（或最近的已存在上级目录）写入、读回并删除一个小文件。日志目录不可写只是警告。",
    ),
    "NR555": (
        "{value} on node {node} is not the folder of the same name on {others}",
        "节点 {node} 上的 {value} 与 {others} 上的同名目录不是同一个",
    ),
    "NR555.fix": (
        "Compare `findmnt -T {value}` there with the others; mount a shared file system, or resume on the same nodes",
        "将该节点的 `findmnt -T {value}` 与其他节点对比；挂载共享文件系统，或在相同节点上恢复训练",
    ),
    "NR555.about": (
        "Each node leaves a token in the folder and looks for the others'. Every node saves the parts of its "
        "own ranks: "
        "without one shared folder no other set of nodes can resume. An error only for a node that lacks a mount which "
        "most have.",
        "每个节点在目录中写入令牌并查找其他节点的令牌。各节点只保存本地 rank 的部分：没有共享目录时，"
        "换一组节点便无法恢复。"
        "仅当多数节点共享而某节点缺少挂载时才视为错误。",
    ),
    "NR556": (
        "{folder} has {value} free on node {node}; two checkpoints take about {limit}",
        "节点 {node} 上 {folder} 仅剩 {value}；两个检查点约需 {limit}",
    ),
    "NR556.fix": (
        "Remove old checkpoints, set trainer.max_actor_ckpt_to_keep, or save less (checkpoint.save_contents)",
        "清理旧检查点，设置 trainer.max_actor_ckpt_to_keep，或减少保存内容（checkpoint.save_contents）",
    ),
    "NR556.about": (
        "Size of the model's files times what the job saves of it (weights, optimizer), twice: the new one is written "
        "before an old one goes. The optimizer's share is an estimate.",
        "模型文件大小乘以作业保存的内容（权重、优化器），再乘以二：新检查点写完后才删除旧的。优化器部分为估算值。",
    ),
    "NR557": (
        "{value} cannot be imported on node {node}: {why}",
        "节点 {node} 无法导入 {value}：{why}",
    ),
    "NR557.fix": (
        "Put the file into runtime_env.working_dir or on every node, and what it imports into runtime_env.pip; try "
        "`python3 -c 'import <module>'` there",
        "将文件放入 runtime_env.working_dir 或每个节点，并将其依赖写入 runtime_env.pip；"
        "可在该节点执行 `python3 -c 'import <模块>'` 验证",
    ),
    "NR557.about": (
        "Reward functions, data sets, agents and plugins of the user, imported on each node in a process of their own "
        "with the environment and working directory of Ray's workers. One that takes too long is a warning.",
        "在每个节点的独立进程中，以 Ray worker 的环境和工作目录导入用户的奖励函数、数据集、agent 与插件。"
        "导入过慢只是警告。",
    ),
    "NR558": (
        "the model's folder on node {node} has no tokenizer ({value} or the like)",
        "节点 {node} 上的模型目录没有分词器（{value} 等）",
    ),
    "NR558.fix": (
        "Copy the tokenizer's files there, unless the job names another folder for it",
        "将分词器文件复制到该目录；若作业另行指定了分词器目录可忽略",
    ),
    "NR558.about": (
        "The files that transformers' tokenizers read. A model with code of its own may need none of them.",
        "transformers 分词器读取的文件。自带代码的模型可能不需要这些文件。",
    ),
    "NR559": (
        "files of the model on node {node} differ from those of other nodes: {value}",
        "节点 {node} 上的模型文件与其他节点不同：{value}",
    ),
    "NR559.fix": (
        "`sha256sum` them there and on another node, and copy the right ones",
        "在该节点和其他节点执行 `sha256sum` 对比，并复制正确的文件",
    ),
    "NR559.about": (
        "Contents of config, tokenizer and chat template. A difference may be a comment, or other token ids on one "
        "node.",
        "比较配置、分词器和对话模板的内容。差异可能只是注释，也可能使某个节点的 token id 不同。",
    ),
}
