"""Texts of notifications: id -> (English, Chinese)."""

TEXTS: dict[str, tuple[str, str]] = {
    "notify.not_private": (
        "others may read this file (mode {mode}), and its addresses are secrets: chmod 600 it",
        "其他用户可读取该文件（权限 {mode}），而其中的地址属于机密：请执行 chmod 600",
    ),
    "notify.unreadable": ("cannot be read ({reason})", "无法读取（{reason}）"),
    "notify.no_address": (
        "a notification target is no address with a scheme (https://… for a webhook, else one of apprise's), here or "
        "in {file}; the line is not repeated, it may be a secret",
        "此处或 {file} 中有一行不是带协议的地址（webhook 用 https://…，其余用 apprise 的写法）；"
        "该行可能是机密，不再显示",
    ),
    "notify.failed": (
        "{target} did not take the notification in {tries} tries: {reason}",
        "{target} 在 {tries} 次尝试后仍未接受通知：{reason}",
    ),
    "notify.refused": ("refused", "被拒绝"),
    "notify.not_apprise": ("apprise does not know such an address", "apprise 不认识该地址"),
    "notify.too_many": (
        "{limit} notifications wait already: that run {run} {event} is not sent",
        "已有 {limit} 条通知在等待：不再发送运行 {run} 的 {event} 通知",
    ),
}
