"""Statements, one after another: lists, pipes, branches, loops, functions, redirections."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from submitter.importer.model import Lit, Template
from submitter.importer.shell import patterns
from submitter.importer.shell.arithmetic import Arithmetic
from submitter.importer.shell.assignments import Assignments
from submitter.importer.shell.commands import run_command
from submitter.importer.shell.conditions import test_clause
from submitter.importer.shell.flow import BreakLoop, ContinueLoop, DiscardCommand, ExitShell, ReturnFrom
from submitter.importer.shell.redirections import Redirections
from submitter.importer.shell.state import BashStopsError, Element, Shell, Variable
from submitter.importer.shell.template import joined, literal, text_of
from submitter.importer.shell.words import Words
from submitter.importer.syntax import Node, comments_of, end_line, line_of

_DEVICES = ("npu", "gpu", "cuda", "ascend")
_FOR_PEOPLE = ("echo", "printf", "wait", "sleep", "kill", "ls")
"""Commands that change nothing here: what they say is for a terminal."""
_MAX_ROUNDS = 10_000
"""Of one loop; a launch script loops over nodes and ports."""


class Statements:
    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.words = Words(shell, self)
        self._assignments = Assignments(self.words)
        self._redirections = Redirections(self.words)

    def of(self, shell: Shell) -> Statements:
        return Statements(shell)

    def simple(self, fields: Sequence[Element]) -> int:
        """A command whose words are known."""
        return run_command(self, fields)

    def run(self, statements: Sequence[Node]) -> int:
        for statement in statements:
            self._statement(statement)
        return self.shell.status

    def run_script(self, statements: Sequence[Node]) -> int:
        """The top level of a script: an error in an expansion drops what was read as one, `a; b` on a line too."""
        dropped = 0
        for statement in statements:
            if line_of(statement) == dropped:
                continue
            try:
                self._statement(statement)
            except DiscardCommand:
                dropped = end_line(statement)
                self.shell.status = 1
                self.shell.tested = 0
            except (ReturnFrom, BreakLoop, ContinueLoop):  # outside of any function or loop: bash says so, and goes on
                self.shell.status = 1
                self.shell.tested = 0
        return self.shell.status

    def tested(self, statements: Sequence[Node]) -> bool:
        """As a condition: `set -e` does not count in it."""
        self.shell.tested += 1
        try:
            return self.run(statements) == 0
        finally:
            self.shell.tested -= 1

    def captured(self, statements: Sequence[Node]) -> Template:
        """The output of `$( )`, in a subshell, without the line ends at its end."""
        shell = self.shell
        line = shell.line
        child = shell.fork()
        child.out = []
        child.options.discard("e")  # bash drops it in `$( )`
        if _only_reads(statements):
            child.out.append(self._redirections.read(statements[0]["Redirs"][0]))
            statements = []
        child.stdin = shell.stdin
        shell.status = Statements(child).guarded(statements)
        shell.substituted = True
        shell.line = line
        return _without_line_ends(shell, joined(child.out))

    def guarded(self, statements: Sequence[Node]) -> int:
        """The exit status of a subshell."""
        try:
            return self.run(statements)
        except ExitShell as end:
            return end.status
        except DiscardCommand:
            return 1
        except BashStopsError as error:
            self.shell.note(error.text_id, "warning", error.place.line if error.place else None, **error.values)
            self._ended_without(str(error.values.get("name", "")))
            return 1
        except (ReturnFrom, BreakLoop, ContinueLoop):
            return self.shell.status

    def _ended_without(self, name: str) -> None:
        """A subshell ended since an input is not set: with one it would go on."""
        if name in self.shell.record.read and self.shell.given(name) is None:
            self.shell.record.unset.add(name)
            self.shell.depends(self.shell.input(name))

    # ── one statement ────────────────────────────────────────────────────────────────────────────────────────────

    def _statement(self, node: Node) -> None:
        shell = self.shell
        shell.step()
        shell.line = line_of(node)
        shell.comments = comments_of(node)
        command = node.get("Cmd")
        if command is None:  # redirections alone: `> file`
            self._redirections.around(node.get("Redirs", []), lambda: 0)
            return
        if node.get("Background"):
            self._background(node)
            return
        status = self._redirections.around(node.get("Redirs", []), lambda: self.command(command))
        shell.status = int(not status) if node.get("Negated") else status
        if status and not node.get("Negated") and _counts(command):
            self._error_exit(line_of(node))

    def _error_exit(self, line: int) -> None:
        shell = self.shell
        if "e" in shell.options and not shell.tested:
            if not shell.record.launches:
                shell.note("importer.stops", line=line, status=shell.status)
            raise ExitShell(shell.status, shell.place(line))

    def _background(self, node: Node) -> None:
        child = self.shell.fork()
        Statements(child).guarded([{**node, "Background": False}])
        self.shell.status = 0

    def command(self, node: Node) -> int:
        handler = _COMMANDS.get(node["Type"])
        if handler is None:
            raise self.shell.fail("importer.unsupported", line_of(node), what=node["Type"])
        return handler(self, node)

    # ── simple commands ──────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, node: Node) -> int:
        shell = self.shell
        fields = self._fields(node.get("Args", []))
        if not fields:
            shell.substituted = False
            for assign in node.get("Assigns", []):
                self._assignments.assign(assign)
            shell.status = shell.status if shell.substituted else 0
            self._trace(node)
            return shell.status
        if not node.get("Assigns"):
            return run_command(self, fields)
        return self._with_environment(node, fields)

    def _fields(self, words: Sequence[Node]) -> list[Element]:
        shell = self.shell
        if shell.out is not None or not words or _typed(words[0]) not in _FOR_PEOPLE:
            return self.words.fields(words)
        shell.lenient += 1
        try:
            return self.words.fields(words)
        finally:
            shell.lenient -= 1

    def _trace(self, node: Node) -> None:
        if node.get("Args"):  # `$EMPTY`: a command whose words all vanished
            self.shell.note("importer.no_words", line=line_of(node))

    def _with_environment(self, node: Node, fields: list[Element]) -> int:
        """`VAR=x command`: the assignments are the command's alone."""
        shell = self.shell
        before = {assign["Name"]["Value"]: shell.variables.get(assign["Name"]["Value"]) for assign in node["Assigns"]}
        for assign in node["Assigns"]:
            self._assignments.assign(assign, export=True)
        try:
            return run_command(self, fields)
        finally:
            for name, variable in before.items():
                if variable is None:
                    shell.variables.pop(name, None)
                else:
                    shell.variables[name] = variable

    def _declaration(self, node: Node) -> int:
        return self._assignments.declare(node)

    # ── lists and pipes ──────────────────────────────────────────────────────────────────────────────────────────

    def _binary(self, node: Node) -> int:
        if node["Op"] in ("|", "|&"):
            return self._pipe(node)
        left = self.tested([node["X"]])
        if left == (node["Op"] == "||"):
            return self.shell.status
        self._statement(node["Y"])
        return self.shell.status

    def _pipe(self, node: Node) -> int:
        stages = [*_stages(node["X"]), node["Y"]]
        statuses = []
        flowing = self.shell.stdin
        for number, stage in enumerate(stages):
            last = number == len(stages) - 1
            child = self.shell.fork()
            child.stdin, child.in_pipe = flowing, True
            child.out = self.shell.out if last else []
            statuses.append(Statements(child).guarded([stage]))
            if not last:
                flowing = joined(child.out or [])
        self.shell.variables["PIPESTATUS"] = Variable(
            None, {number: Element(literal(str(status))) for number, status in enumerate(statuses)}
        )
        failed = [status for status in statuses if status]
        return failed[-1] if failed and "pipefail" in self.shell.options else statuses[-1]

    # ── branches and loops ───────────────────────────────────────────────────────────────────────────────────────

    def _if(self, node: Node) -> int:
        clause: Node | None = node
        decided = len(self.shell.record.uses)
        while clause is not None:
            conditions = clause.get("Cond", [])
            if not conditions or self.tested(conditions):
                self._dropped(_clauses(node), clause, decided)
                self.shell.status = 0
                return self.run(clause.get("Then", []))
            clause = clause.get("Else")
        self._dropped(_clauses(node), None, decided)
        return 0

    def _dropped(self, branches: Sequence[Node], taken: Node | None, decided: int) -> None:
        """Says which branches of a choice of the device are not in the job file."""
        record = self.shell.record
        device = next((part.text for _, part in record.uses[decided:] if part.text.lower() in _DEVICES), None)
        for branch in branches if device else ():
            if branch is not taken and (body := branch.get("Then") or branch.get("Stmts")):
                first, last = line_of(body[0]), end_line(body[-1])
                self.shell.note("importer.branch", "note", first, device=device, first=first, last=last)

    def _case(self, node: Node) -> int:
        decided = len(self.shell.record.uses)
        text = self.shell.decide(self.words.text(node["Word"]))
        falling = False
        for item in node.get("Items", []):
            if not falling and not any(patterns.matches(self.words.pattern(p), text) for p in item["Patterns"]):
                continue
            if not falling:
                self._dropped([one for one in node["Items"] if not _is_default(one)], item, decided)
            self.shell.status = 0
            self.run(item.get("Stmts", []))
            if item["Op"] == ";;":
                return self.shell.status
            falling = item["Op"] == ";&"
        return self.shell.status if falling else 0

    def _for(self, node: Node) -> int:
        if node.get("Select"):
            raise self.shell.fail("importer.unsupported", what="select")
        loop = node["Loop"]
        if loop["Type"] == "CStyleLoop":
            return self._c_style(loop, node["Do"])
        name = loop["Name"]["Value"]
        items = self.words.fields(loop.get("Items", [])) if loop.get("InPos") or "Items" in loop else self.shell.params
        status = 0
        for item in list(items):
            self.shell.assign(name, item.template)
            status, more = self._round(node["Do"])
            if not more:
                break
        return status

    def _c_style(self, loop: Node, body: Sequence[Node]) -> int:
        arithmetic = Arithmetic(self.words)
        if loop.get("Init"):
            arithmetic.value(loop["Init"])
        status = 0
        for _ in range(_MAX_ROUNDS):
            if loop.get("Cond") and not arithmetic.number(loop["Cond"]):
                return status
            status, more = self._round(body)
            if not more:
                return status
            if loop.get("Post"):
                arithmetic.value(loop["Post"])
        raise self.shell.fail("importer.endless_loop", limit=_MAX_ROUNDS)

    def _while(self, node: Node) -> int:
        line, status = self.shell.line, 0
        for _ in range(_MAX_ROUNDS):
            if self.tested(node["Cond"]) == bool(node.get("Until")):
                return status
            status, more = self._round(node["Do"])
            if not more:
                return status
        raise self.shell.fail("importer.endless_loop", line, limit=_MAX_ROUNDS)

    def _round(self, body: Sequence[Node]) -> tuple[int, bool]:
        """The status of one round, and whether another may follow."""
        self.shell.step()
        try:
            return self.run(body), True
        except BreakLoop as end:
            if end.levels > 1:
                raise BreakLoop(end.levels - 1) from None
            return 0, False
        except ContinueLoop as end:
            if end.levels > 1:
                raise ContinueLoop(end.levels - 1) from None
            return 0, True

    def _block(self, node: Node) -> int:
        return self.run(node.get("Stmts", []))

    def _subshell(self, node: Node) -> int:
        return Statements(self.shell.fork()).guarded(node.get("Stmts", []))

    def _function(self, node: Node) -> int:
        self.shell.functions[node["Name"]["Value"]] = node["Body"]
        return 0

    def call_function(self, body: Node, arguments: list[Element]) -> int:
        shell = self.shell
        params, shell.params = shell.params, arguments
        shell.depth += 1
        shell.check_depth()
        shell.push_frame()
        try:
            self._statement(body)
            return shell.status
        except ReturnFrom as end:
            return end.status
        finally:
            shell.pop_frame()
            shell.depth -= 1
            shell.params = params

    def _arithmetic(self, node: Node) -> int:
        return self._calculated([node["X"]])

    def _let(self, node: Node) -> int:
        return self._calculated(node["Exprs"])

    def _calculated(self, expressions: Sequence[Node]) -> int:
        """An error in them fails this command alone."""
        try:
            values = [Arithmetic(self.words).number(expression) for expression in expressions]
        except DiscardCommand:
            return 1
        return int(not values[-1])

    def _test(self, node: Node) -> int:
        return test_clause(self.words, node["X"])

    def _time(self, node: Node) -> int:
        self._statement(node["Stmt"])
        return self.shell.status


_COMMANDS: dict[str, Callable[[Statements, Node], int]] = {
    "CallExpr": Statements._call,
    "DeclClause": Statements._declaration,
    "BinaryCmd": Statements._binary,
    "IfClause": Statements._if,
    "CaseClause": Statements._case,
    "ForClause": Statements._for,
    "WhileClause": Statements._while,
    "Block": Statements._block,
    "Subshell": Statements._subshell,
    "FuncDecl": Statements._function,
    "ArithmCmd": Statements._arithmetic,
    "LetClause": Statements._let,
    "TestClause": Statements._test,
    "TimeClause": Statements._time,
}


def _typed(word: Node) -> str:
    parts = word.get("Parts", [])
    return str(parts[0]["Value"]) if len(parts) == 1 and parts[0]["Type"] == "Lit" else ""


def _only_reads(statements: Sequence[Node]) -> bool:
    """`$(<file)`."""
    alone = len(statements) == 1 and not statements[0].get("Cmd") and len(statements[0].get("Redirs", [])) == 1
    return alone and statements[0]["Redirs"][0]["Op"] == "<"


def _clauses(node: Node) -> list[Node]:
    """if, elif …, else."""
    clauses = [node]
    while clauses[-1].get("Else"):
        clauses.append(clauses[-1]["Else"])
    return clauses


def _is_default(item: Node) -> bool:
    parts = item["Patterns"][0].get("Parts", [])
    return len(parts) == 1 and parts[0].get("Value") == "*"


def _counts(command: Node) -> bool:
    """Whether `set -e` looks at this status here, and not already inside."""
    return command["Type"] not in ("IfClause", "CaseClause", "ForClause", "WhileClause", "Block") and not (
        command["Type"] == "BinaryCmd" and command["Op"] in ("&&", "||")
    )


def _stages(node: Node) -> list[Node]:
    command = node.get("Cmd") or {}
    plain = not node.get("Redirs") and not node.get("Negated")
    if plain and command.get("Type") == "BinaryCmd" and command["Op"] in ("|", "|&"):
        return [*_stages(command["X"]), command["Y"]]
    return [node]


def _without_line_ends(shell: Shell, template: Template) -> Template:
    text = text_of(template)
    stripped = text.rstrip("\n").replace("\0", "")
    if stripped == text:
        return template
    last = template[-1]
    if isinstance(last, Lit):
        shorter = joined([template[:-1], literal(last.text.rstrip("\n"))])
        if text_of(shorter) == stripped:
            return shorter
    return literal(shell.decide(template).rstrip("\n").replace("\0", ""))
