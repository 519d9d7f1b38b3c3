"""The machine code of AArch64, as objdump prints it: ways through functions, and what they access."""

import itertools
import os
import re
import subprocess
import sys
import tempfile

OBJDUMP = os.environ.get("OBJDUMP", "aarch64-linux-gnu-objdump")
CC = os.environ.get("CC", "aarch64-linux-gnu-gcc")
INCLUDE = os.environ.get("INCLUDE", "build/aarch64/include")
# A program's own copy of a routine.
INLINED = """#define SHMEM_INLINE
#include <shmem.h>
void inlined_long_p(long *x, long v, int pe) { shmem_long_p(x, v, pe); }
"""
# More ways through one function than any that is looked at has.
MOST_PATHS = 100000
CONDITIONAL = re.compile(r"b\.\w+|cbn?z|tbn?z")
# Atomic read-modify-writes in one instruction, which processors with LSE have.
WHOLE = re.compile(r"(ldadd|ldclr|ldset|ldeor|swp|cas)(a?l?)")
# Kinds of accesses, by the beginnings of the instructions' names; `first` and `last` are halves of a
# read-modify-write without LSE.
KINDS = [
    ("first", re.compile("ldaxr|ldxr")),
    ("last", re.compile("stlxr|stxr")),
    ("acquire", re.compile("ldapr|ldar")),
    ("release", re.compile("stlr")),
    ("load", re.compile("ld")),
    ("store", re.compile("st")),
]
# The stack pointer and the frame's.
STACK = ("sp", "29")


class Instruction:
    def __init__(self, address, name, operands):
        self.address, self.name = address, name
        self.operands = operands.split("//")[0].strip()

    def registers(self, text=None):
        found = re.findall(r"\b[xw](\d+)\b|\b(sp)\b", self.operands if text is None else text)
        return [number or word for number, word in found]

    def target(self):
        """Where a branch or call leads: address and function."""
        found = re.search(r"([0-9a-f]+) <([^>+]+)", self.operands)
        return (int(found[1], 16), found[2]) if found else (None, None)

    def kind(self):
        """Which kind of access to memory it is, or `barrier`, or None."""
        if self.name == "dmb":
            return "barrier"
        if "[" not in self.operands:
            return None
        if WHOLE.match(self.name):
            return "rmw"
        return next((kind for kind, names in KINDS if names.match(self.name)), None)

    def base(self):
        """The register from which the address of its access is computed."""
        return re.search(r"\[[xw]?(\w+)", self.operands)[1] if "[" in self.operands else None


class Code:
    """All functions of some files."""

    def __init__(self, *files):
        self.functions, code = {}, None
        for file in files:
            command = [OBJDUMP, "-d", "--no-show-raw-insn", file]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            for line in done.stdout.splitlines():
                if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
                    code = self.functions.setdefault(head[1], [])
                elif part := re.match(r"\s*([0-9a-f]+):\t(\S+)\s*(.*)", line):
                    code.append(Instruction(int(part[1], 16), part[2], part[3]))

    def named(self, pattern):
        found = [name for name in self.functions if re.search(pattern, name)]
        return found or sys.exit(f"no function in the library is called {pattern}")

    def paths(self, function, into=None):
        """All ways through a function that call none, except for atomics and where `into` matches.
        What is uncommon is in functions of its own."""
        found, work = [], [(function, 0, (), ())]
        while work:
            if len(found) + len(work) > MOST_PATHS:
                sys.exit(f"there are more than {MOST_PATHS} ways through {function}")
            name, at, trail, callers = work.pop()
            code = self.functions[name]
            if at == len(code) or code[at] in trail:
                continue
            here = code[at]
            trail += (here,)
            address, target = here.target()
            if here.name == "ret" and not callers:
                found.append(trail)
            elif here.name == "ret":
                work.append((*callers[-1], trail, callers[:-1]))
            elif here.name == "bl":
                if target.startswith("__aarch64_") or into and re.search(into, target):
                    work.append((target, 0, trail, callers + ((name, at + 1),)))
            else:
                if here.name == "b" or CONDITIONAL.fullmatch(here.name):
                    inside = enumerate(code if target == name else [])
                    there = [n for n, it in inside if it.address == address]
                    work += [(name, n, trail, callers) for n in there]
                if here.name not in ("b", "br", "blr", "brk", "udf"):
                    work.append((name, at + 1, trail, callers))
        return found or sys.exit(f"no way through {function} without a call")

    def fast(self, function, into=None):
        """The accesses on each way through a function."""
        return unique(accesses(path) for path in self.paths(self.named(f"^{function}$")[0], into))

    def after(self, pattern, atomic):
        """An atomic operation in functions whose names match, and the access that follows in their text."""
        found = []
        for code in map(self.functions.get, self.named(pattern)):
            for at, here in enumerate(code):
                if here.name == "bl" and here.target()[1] == atomic:
                    rest = (it for it in code[at + 1:] if it.kind() and it.base() not in STACK)
                    # None where the function ends: there, an operation takes back another one.
                    if follows := next(rest, None):
                        last = (follows.kind(), follows.name)
                        found += [path + (last,) for path in self.fast(atomic)]
        return unique(found)

    def publishing(self, pattern):
        """A plain store, and several right after it that release it."""
        found = []
        for name in self.named(pattern):
            seen = [(it.kind(), it.name) for it in self.functions[name] if it.kind()]
            for at, first in enumerate(seen):
                rest = itertools.takewhile(lambda it: it[0] == "release", seen[at + 1:])
                run = (first, *rest)
                if first[0] == "store" and len(run) > 2:
                    found.append(run)
        return unique(found)


def unique(found):
    return list(dict.fromkeys(found)) or sys.exit("the library has no such code")


def accesses(path):
    """Kind and name of all accesses but those to the stack. Of those to static memory, the library's
    own, the kind begins with `own.`."""
    statics, found = set(), []
    for here in path:
        kind, base = here.kind(), here.base()
        if kind == "barrier":
            found.append((kind, f"{here.name} {here.operands}"))
        elif kind and base not in STACK:
            found.append((f"own.{kind}" if base in statics else kind, here.name))
        if kind in ("store", "release", "barrier"):
            continue
        if kind:
            statics -= set(here.registers(here.operands.split("[")[0]))
        elif registers := here.registers():
            dest, *sources = registers
            moved = here.name in ("add", "mov") and statics & set(sources)
            (statics.add if here.name == "adrp" or moved else statics.discard)(dest)
    return tuple(found)


def library(path):
    """The code of the library, and of a program with routines of its own."""
    with tempfile.TemporaryDirectory() as folder:
        inlined = os.path.join(folder, "inlined.o")
        command = [CC, "-O2", f"-I{INCLUDE}", "-c", "-xc", "-", "-o", inlined]
        subprocess.run(command, input=INLINED, text=True, check=True)
        return Code(path, inlined)
