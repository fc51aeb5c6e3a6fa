"""Texts of `npurun import --verify`: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "importer.verify_not_linux": (
        "--verify runs the script in a sandbox of Linux namespaces, and this machine has {platform}: it was not run. "
        "Verify on a Linux machine, or import without --verify",
        "--verify 在 Linux 命名空间沙箱中运行脚本，而本机是 {platform}：脚本未运行。请在 Linux 机器上验证，"
        "或去掉 --verify 导入",
    ),
    "importer.verify_no_tool": (
        "--verify needs {tool} of the system, and it is not in {folders}: the script was not run. Install it, or "
        "import without --verify",
        "--verify 需要系统自带的 {tool}，但在 {folders} 中找不到：脚本未运行。请安装它，或去掉 --verify 导入",
    ),
    "importer.verify_refused": (
        "no sandbox can be made on this machine ({step}: {why}), so the script was not run. Import without --verify, "
        "or allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, "
        "kernel.apparmor_restrict_unprivileged_userns=0; a Docker container: --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined --security-opt systempaths=unconfined)",
        "本机无法建立沙箱（{step}：{why}），脚本未运行。请去掉 --verify 导入，或允许用户命名空间（sysctl "
        "user.max_user_namespaces、kernel.unprivileged_userns_clone=1、kernel.apparmor_restrict_unprivileged_userns=0；"
        "Docker 容器：--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
        "systempaths=unconfined）",
    ),
    "importer.verify_no_answer": (
        "the sandbox ended without an answer ({why}), so nothing was verified. Import without --verify",
        "沙箱没有返回结果（{why}），未完成验证。请去掉 --verify 导入",
    ),
    "importer.verify_argument": (
        "argument {what}: bash {bash}, the import {imported}",
        "参数 {what}：bash 为 {bash}，导入为 {imported}",
    ),
    "importer.verify_argument_missing": (
        "argument {what}: bash {bash}, the import does not have it",
        "参数 {what}：bash 为 {bash}，导入中没有",
    ),
    "importer.verify_argument_extra": (
        "argument {what}: the import {imported}, bash does not have it",
        "参数 {what}：导入为 {imported}，bash 没有",
    ),
    "importer.verify_variable": (
        "environment variable {what}: bash {bash}, the import {imported}",
        "环境变量 {what}：bash 为 {bash}，导入为 {imported}",
    ),
    "importer.verify_variable_missing": (
        "environment variable {what}: bash {bash}, the import does not have it",
        "环境变量 {what}：bash 为 {bash}，导入中没有",
    ),
    "importer.verify_variable_extra": (
        "environment variable {what}: the import {imported}, bash does not have it",
        "环境变量 {what}：导入为 {imported}，bash 没有",
    ),
}
