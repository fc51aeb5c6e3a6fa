"""Texts of the recovery rules (NR361 to NR380): id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "NR361": (
        "recovery allows {attempts} attempts, but trainer.save_freq is {value}: no checkpoint is written, so once a "
        "step is made there is nothing to go on from, and the run ends with its first failure",
        "recovery 允许 {attempts} 次尝试，但 trainer.save_freq 是 {value}：不会写检查点，训练过一步之后便无从继续，"
        "首次失败就会结束运行",
    ),
    "NR361.fix": (
        "Set trainer.save_freq to the steps that you can afford to lose, e.g. 10; or recovery.from_start: true, to "
        "train again from step 0",
        "请将 trainer.save_freq 设为可以承受丢失的步数，例如 10；或设置 recovery.from_start: true，从第 0 步重新训练",
    ),
    "NR361.about": (
        "Further attempts without checkpoints. verl's default for trainer.save_freq is -1, which saves nothing, not "
        "even at the end, so a run that is started again repeats everything. Jobs without a recovery section, with one "
        "attempt, with resume: false or with from_start: true are not told.",
        "允许多次尝试却没有检查点。verl 的 trainer.save_freq 默认为 -1，即什么都不保存，结束时也不保存，"
        "因此重新启动的作业会全部重来。"
        "没有 recovery 一节、只有一次尝试、resume: false 或 from_start: true 的作业不会提示。",
    ),
    "NR362": (
        "trainer.save_freq {value} is not below the {limit} steps of the run: the only checkpoint is the last step's",
        "trainer.save_freq {value} 不小于总步数 {limit}：唯一的检查点是最后一步的",
    ),
    "NR362.fix": ("Set trainer.save_freq well below {limit}", "请将 trainer.save_freq 设为明显小于 {limit} 的值"),
    "NR362.about": (
        "How often checkpoints are written against the length of the run. When save_freq reaches "
        "total_training_steps, nothing is saved before the end, and a further attempt starts at step 0. Without "
        "total_training_steps the length is not known here, and nothing is said.",
        "检查点的保存间隔与训练长度的比较。save_freq 达到 total_training_steps 时，结束之前什么都不会保存，"
        "再次尝试将从第 0 步开始。没有设置 total_training_steps 时无法得知长度，不作提示。",
    ),
    "NR363": (
        "recovery asks for further attempts, but trainer.resume_mode is {value}: none of them goes on from a "
        "checkpoint, and the run ends with its first failure after a step",
        "recovery 要求再次尝试，但 trainer.resume_mode 是 {value}：之后的尝试不会接着检查点训练，"
        "训练过一步之后首次失败就会结束运行",
    ),
    "NR363.fix": ("Set trainer.resume_mode={limit}", "请设置 trainer.resume_mode={limit}"),
    "NR363.about": (
        "Resuming switched off while attempts are allowed. With resume_mode=disable verl never looks for a checkpoint. "
        "It is meant for a single attempt that must not go on from old files; set resume: false in recovery to say so.",
        "允许多次尝试却关闭了续训。resume_mode=disable 时 verl 从不查找检查点。"
        "它适用于不应接着旧文件训练的单次作业；如确实如此，请在 recovery 中写 resume: false。",
    ),
    "NR364": (
        "checkpoints go to {value}, relative to the folder that Ray makes for the job on one node and may remove; "
        "npurun puts them below ~/npurun/<run> on each node instead, where all find them only if homes are shared",
        "检查点写入相对路径 {value}，即 Ray 在某个节点上为作业创建、随时可能删除的目录；npurun 会改为写到各节点的 "
        "~/npurun/<run> 下，只有 home 目录共享时所有节点才能找到它们",
    ),
    "NR364.fix": (
        "Set trainer.default_local_dir to an absolute path on storage that all nodes share",
        "请将 trainer.default_local_dir 设为所有节点共享的存储上的绝对路径",
    ),
    "NR364.about": (
        "Relative checkpoint folders, verl's default among them. The trainer's folder is made by Ray for each job and "
        "lies on a node's own disk, so every node writes somewhere else. Jobs that save nothing are not told.",
        "相对的检查点目录，包括 verl 的默认值。训练器的目录由 Ray 为每个作业创建，位于节点自己的磁盘上，"
        "因此每个节点写入不同的位置。不保存检查点的作业不会提示。",
    ),
    "NR365": (
        "checkpoints go to {value}, which each of the {limit} nodes has for itself: a rank finds only what its own "
        "node "
        "saved, and metadata (common.pt, .metadata) are on one node alone",
        "检查点写入 {value}，{limit} 个节点各有各的目录：每个 rank 只能找到自己节点保存的内容，"
        "元数据（common.pt、.metadata）只在一个节点上",
    ),
    "NR365.fix": (
        "Set trainer.default_local_dir to storage that all nodes share; ignore this if the path is such a mount",
        "请将 trainer.default_local_dir 设为所有节点共享的存储；如果该路径本身就是共享挂载，可忽略此项",
    ),
    "NR365.unknown": (
        "the nodes are not looked at, so whether all of them share {path} (checkpoints) is not known. Write a file "
        "there "
        "on one node and read it on another",
        "未检查各节点，因此不知道它们是否共享 {path}（检查点）。请在一个节点上写入文件，并在另一个节点上读取",
    ),
    "NR365.about": (
        "Checkpoint folders that are a node's own, in a job of several nodes. Saving works, and resuming fails with "
        'FileNotFoundError, "is not a distributed checkpoint" or missing ranks. Known local places (/tmp, /dev/shm, '
        "/local) are warnings, home folders hints; whether another path is shared cannot be told from here.",
        "多节点作业的检查点目录在节点本地。保存正常，续训却失败，报 FileNotFoundError、“is not a distributed "
        "checkpoint” "
        "或缺少 rank。已知的本地位置（/tmp、/dev/shm、/local）给出警告，主目录给出提示；其他路径是否共享在此无法得知。",
    ),
    "NR366": (
        "checkpoints hold {value} without {limit}: an attempt that resumes {lost}",
        "检查点包含 {value}，不含 {limit}：续训时{lost}",
    ),
    "NR366.model": (
        "takes the step that was reached, but the weights of the first model",
        "沿用已达到的步数，但权重是最初的模型",
    ),
    "NR366.optimizer": ("begins with empty Adam moments", " Adam 的动量从零开始"),
    "NR366.fix": (
        "Set save_contents to [model,optimizer,extra], if the storage has room",
        "如果存储空间足够，请将 save_contents 设为 [model,optimizer,extra]",
    ),
    "NR366.about": (
        "What checkpoints hold. Without model a resumed run counts its steps on, but with the weights it first began "
        "from: hf_model is an export, which no resume reads. Without the optimizer it has zero moments, and often a "
        "jump in the loss. Leaving that out saves two thirds of the space and more, and is right for jobs that only "
        "keep their result.",
        "检查点的内容。不含 model 时，续训的步数会接着计，但权重是最初的：hf_model 只是导出，续训不会读取。"
        "不含优化器时，动量从零开始，损失常会跳变。"
        "去掉优化器可以节省三分之二以上的空间，适合只保留结果的作业。",
    ),
    "NR367": (
        "load_contents ({value}) asks for {missing}, which save_contents ({limit}) does not write: an attempt that "
        "resumes fails",
        "load_contents（{value}）要求 {missing}，而 save_contents（{limit}）不保存它：续训会失败",
    ),
    "NR367.fix": (
        "Let load_contents follow save_contents (drop the setting), or save {missing} too",
        "请让 load_contents 与 save_contents 一致（去掉该设置），或同时保存 {missing}",
    ),
    "NR367.about": (
        "What is loaded against what is saved. verl opens a file for each part that load_contents names, and ends when "
        "it is not there. It is a warning when the job asks for no further attempts, since an older checkpoint may "
        "hold more.",
        "加载内容与保存内容的对照。verl 会打开 load_contents 中每一部分的文件，不存在时就会结束。"
        "作业不要求再次尝试时只给出警告，因为旧的检查点可能包含更多内容。",
    ),
    "NR368": (
        "checkpoint.async_save is only done for Megatron; with {limit} it makes verl leave out "
        "latest_checkpointed_iteration.txt, so resuming finds nothing",
        "checkpoint.async_save 仅对 Megatron 有效；使用 {limit} 时，verl 不会写 latest_checkpointed_iteration.txt，"
        "因此续训什么也找不到",
    ),
    "NR368.fix": ("Set {key}=False", "请设置 {key}=False"),
    "NR368.about": (
        "Asynchronous saving without Megatron. verl's trainer leaves the file that names the newest checkpoint to "
        "Megatron's manager, and no other writes it. Training itself is not touched.",
        "不使用 Megatron 时的异步保存。verl 的训练器把记录最新检查点的文件交给 Megatron 的管理器来写，"
        "其他管理器不写它。"
        "训练本身不受影响。",
    ),
    "NR369": (
        "trainer.resume_mode is resume_path, but trainer.resume_from_path is {value}: it has to end in global_step_<N>",
        "trainer.resume_mode 是 resume_path，但 trainer.resume_from_path 是 {value}：它必须以 global_step_<N> 结尾",
    ),
    "NR369.fix": (
        "Give the folder of one step, as /ckpt/run/global_step_100, without a slash at its end",
        "请填写某一步的目录，例如 /ckpt/run/global_step_100，末尾不带斜杠",
    ),
    "NR369.about": (
        "The path of a checkpoint to resume from. verl asserts that it is text with global_step_ in it and reads the "
        "step's number from its end, so the folder actor inside, or a slash, fails. With resume_mode=auto it is not "
        "looked at.",
        "续训所用检查点的路径。verl 要求它是包含 global_step_ 的文本，并从末尾读取步数，因此写成其中的 actor 目录，"
        "或末尾带斜杠都会失败。resume_mode=auto 时不使用它。",
    ),
    "NR370": ("trainer.resume_mode={value} is none of {limit}", "trainer.resume_mode={value} 不是 {limit} 之一"),
    "NR370.fix": (
        "Set auto (the newest checkpoint, if any), disable, or resume_path",
        "请设为 auto（最新的检查点，如果有）、disable 或 resume_path",
    ),
    "NR370.about": (
        "The mode of resuming. verl does not refuse another word, but fails on it at the start, when there is no "
        "checkpoint yet.",
        "续训模式。verl 不会拒绝其他取值，但在启动、还没有检查点时会因此失败。",
    ),
    "NR371": (
        "the checkpoint {folder} was saved by {value} ranks, the job has {limit}: each rank looks for "
        "model_world_size_{limit}_rank_<rank>.pt",
        "检查点 {folder} 由 {value} 个 rank 保存，作业有 {limit} 个：每个 rank 会查找 "
        "model_world_size_{limit}_rank_<rank>.pt",
    ),
    "NR371.fix": (
        "Take as many NPUs as before, merge the checkpoint (python3 -m verl.model_merger) and start from it as the "
        "model, or name another default_local_dir",
        "请使用与之前相同数量的 NPU，或合并检查点（python3 -m verl.model_merger）并以其作为模型，或更换 "
        "default_local_dir",
    ),
    "NR371.about": (
        "The world size of the checkpoint that the first attempt would resume. Checkpoints of FSDP and VeOmni have one "
        "file a rank and the world size in each name, so another world size finds no file. Megatron's distributed "
        "checkpoints can be loaded in another layout and are not told.",
        "首次尝试将要续训的检查点的 world size。FSDP 和 VeOmni 的检查点每个 rank 一个文件，文件名中含有 world size，"
        "因此换了 world size 就找不到文件。Megatron 的分布式检查点可以用其他布局加载，不会提示。",
    ),
    "NR372": ("the checkpoint {value} is not whole: it lacks {lacks}", "检查点 {value} 不完整：缺少 {lacks}"),
    "NR372.fix": (
        "Copy the missing files from the nodes that saved them, or name an older whole step with "
        "trainer.resume_mode=resume_path",
        "请从保存它们的节点复制缺少的文件，或用 trainer.resume_mode=resume_path 指定更早的完整步",
    ),
    "NR372.about": (
        "Whether the checkpoint that the first attempt would resume has the files of all ranks. A run that was killed "
        "while it saved, or nodes that each saved for themselves, leave only some. It is looked at only where the "
        "folder can be read from this machine.",
        "首次尝试将要续训的检查点是否包含所有 rank 的文件。保存时被终止的作业，或各节点分别保存，都会只留下一部分。"
        "只有在本机可读取该目录时才检查。",
    ),
    "NR373": (
        "the checkpoint {value} has no {limit}: training goes on, but the data start from their beginning",
        "检查点 {value} 没有 {limit}：训练会继续，但数据从头开始",
    ),
    "NR373.fix": (
        "Resume from a step that has {limit}, or accept that prompts repeat",
        "请从含有 {limit} 的步续训，或接受提示会重复",
    ),
    "NR373.about": (
        "The state of the data loader in a checkpoint. Without it verl prints a warning and repeats prompts that were "
        "used already. It is written after the weights, so its lack often means that the save was cut short.",
        "检查点中数据加载器的状态。缺少它时 verl 只打印警告，并重复用过的提示。"
        "它在权重之后写入，因此缺少它往往说明保存被中断。",
    ),
    "NR374": (
        "the checkpoint {value} is not there",
        "检查点 {value} 不存在",
    ),
    "NR374.fix": (
        "Name a step that is there; with resume_mode=auto write its number into latest_checkpointed_iteration.txt",
        "请指定存在的步；resume_mode=auto 时，请将其步数写入 latest_checkpointed_iteration.txt",
    ),
    "NR374.about": (
        "A checkpoint that is named and gone. With resume_mode=auto verl then starts at step 0 without an error, with "
        "resume_path it fails. It is looked at only where the folder around it can be read from this machine.",
        "被指定但已不存在的检查点。resume_mode=auto 时 verl 会不报错地从第 0 步开始，resume_path 时则会失败。"
        "只有在本机可读取其上级目录时才检查。",
    ),
    "NR375": (
        "{name}={value} removes the older checkpoint as soon as the new weights are written, before data.pt and "
        "latest_checkpointed_iteration.txt: a failure in between leaves nothing to resume (older verl removed it even "
        "before saving)",
        "{name}={value} 会在新权重写完后立即删除旧检查点，早于写入 data.pt 和 latest_checkpointed_iteration.txt："
        "其间发生故障就没有可续训的内容（更早的 verl 甚至在保存之前就删除）",
    ),
    "NR375.fix": (
        "Set trainer.max_actor_ckpt_to_keep={limit} and leave room for three checkpoints",
        "请设置 trainer.max_actor_ckpt_to_keep={limit}，并预留三个检查点的空间",
    ),
    "NR375.about": (
        "Keeping one checkpoint only. The file that says which one is newest is written last, so for a short time it "
        "names one that is gone, and a full disk can cost both. It is a hint where no further attempts are asked for.",
        "只保留一个检查点。记录最新检查点的文件最后才写，因此有一小段时间它指向已删除的检查点，"
        "磁盘写满时两者都可能丢失。"
        "未要求再次尝试时只作提示。",
    ),
    "NR376": (
        "the file logger writes {value}, and each further attempt a file of its own: the second one {limit}",
        "file 日志写入 {value}，之后的每次尝试各写自己的文件：第二次为 {limit}",
    ),
    "NR376.fix": (
        "Nothing to do: read the files of all attempts; a later one counts where steps are in both",
        "无需处理：请把各次尝试的文件合起来看；同一步出现在多个文件时以后面的尝试为准",
    ),
    "NR376.about": (
        "The file logger over several attempts. verl opens its file for writing from the start, which would erase "
        "what an earlier attempt logged, so npurun names the attempt in VERL_FILE_LOGGER_PATH, or adds a folder to "
        "VERL_FILE_LOGGER_ROOT, from the second attempt on. Jobs without further attempts are not told.",
        "多次尝试时的 file 日志。verl 会从头写入该文件，从而清除之前尝试的记录，因此从第二次尝试起，npurun 会在 "
        "VERL_FILE_LOGGER_PATH 中写明第几次尝试，或在 VERL_FILE_LOGGER_ROOT 下增加一层目录。"
        "不要求再次尝试的作业不会提示。",
    ),
    "NR377": (
        "the file logger writes {value}, relative to the folder that Ray makes for the job on one node",
        "file 日志写入相对路径 {value}，即 Ray 在某个节点上为作业创建的目录",
    ),
    "NR377.fix": (
        "Set the flag VERL_FILE_LOGGER_ROOT to an absolute path on shared storage",
        "请将环境变量 VERL_FILE_LOGGER_ROOT 设为共享存储上的绝对路径",
    ),
    "NR377.about": (
        "Where the file logger writes. Without a path it is the trainer's own folder, on whatever node it runs, and "
        "Ray "
        "removes that folder after the job. Jobs without the logger file are not told.",
        "file 日志的写入位置。不指定路径时是训练器自己的目录，位于它所在的节点，作业结束后会被 Ray 删除。"
        "未使用 file 日志的作业不会提示。",
    ),
    "NR378": (
        "trainer.default_hdfs_dir={value} with resume_mode={limit}: this trainer cannot load from HDFS and stops at "
        "the "
        'start ("load from hdfs is not implemented yet")',
        "trainer.default_hdfs_dir={value} 且 resume_mode={limit}：该训练器不能从 HDFS 加载，启动时即停止"
        "（“load from hdfs is not implemented yet”）",
    ),
    "NR378.fix": (
        "Drop trainer.default_hdfs_dir and save to shared storage, or set trainer.resume_mode=disable",
        "请去掉 trainer.default_hdfs_dir 并保存到共享存储，或设置 trainer.resume_mode=disable",
    ),
    "NR378.about": (
        "Checkpoints on HDFS. The trainers before verl 0.9, and the fully asynchronous one, refuse to start with them "
        "unless resuming is off. The v1 trainer copies to HDFS and resumes from the local folder.",
        "HDFS 上的检查点。verl 0.9 之前的训练器和全异步训练器，除非关闭续训，否则会拒绝启动。"
        "v1 训练器会复制到 HDFS，并从本地目录续训。",
    ),
    "NR379": (
        "the checkpoint {value} has the layout of verl before 0.9 ({old} directly in actor), which verl {limit} "
        "refuses",
        "检查点 {value} 是 verl 0.9 之前的布局（{old} 直接位于 actor 中），verl {limit} 会拒绝它",
    ),
    "NR379.fix": (
        "Migrate it with verl's scripts/migrate_megatron_checkpoint_layout.py --checkpoint {value}/actor, or name "
        "another trainer.default_local_dir",
        "请用 verl 的 scripts/migrate_megatron_checkpoint_layout.py --checkpoint {value}/actor 迁移，"
        "或更换 trainer.default_local_dir",
    ),
    "NR379.about": (
        "Megatron checkpoints of an older verl. Since 0.9 weights, optimizer and the rest lie in folders of their own, "
        "and a checkpoint in the older layout ends the run when it is resumed. It is looked at only where the folder "
        "can be read from this machine.",
        "旧版 verl 的 Megatron 检查点。从 0.9 起，权重、优化器和其余内容分别位于各自的目录，"
        "续训旧布局的检查点会使作业结束。"
        "只有在本机可读取该目录时才检查。",
    ),
    "NR380": ("{why}", "{why}"),
    "NR380.fix": ("{how}", "{how}"),
    "NR380.unknown": (
        "{value} is no reason and no family of reasons; the nearest is {nearest}",
        "{value} 既不是原因也不是原因类别；最接近的是 {nearest}",
    ),
    "NR380.unknown.far": ("{value} is no reason and no family of reasons", "{value} 既不是原因也不是原因类别"),
    "NR380.do_unknown": (
        "Take the id of a reason or the name of a family: npurun explain lists them",
        "请使用原因的 ID 或类别名称：npurun explain 会列出全部",
    ),
    "NR380.outcome": ("{value} is no failure: nothing is decided by it", "{value} 不是故障：不会据此作任何决定"),
    "NR380.do_outcome": ("Drop {value} from recovery.on_reason", "请从 recovery.on_reason 中删除 {value}"),
    "NR380.fixed": (
        "{value}: {retry} is not followed: the same job would fail again in the same way",
        "{value}: {retry} 不会生效：同样的作业会以同样的方式再次失败",
    ),
    "NR380.do_fixed": (
        "Drop it; to retry with other arguments, name them under change",
        "请删除；如要用其他参数重试，请写在 change 下",
    ),
    "NR380.about": (
        "What recovery.on_reason names. Reasons and families are those of one table; an unknown name would never "
        "apply. Errors of configuration, arithmetic, versions and user code are the job's own: they are retried with "
        "an allowed change or not at all.",
        "recovery.on_reason 中的名称。原因和类别来自同一张表；未知的名称永远不会生效。"
        "配置、整除关系、版本和用户代码的错误属于作业本身：只有带上允许的修改才会重试，否则不重试。",
    ),
}
