# Reads the instructions of kernels, from cubins or PTX, and finds their hot loops.
# SPDX-License-Identifier: MIT
import collections
import heapq
import json
import os
import re
import subprocess

SASS_BYTES = 16  # of an instruction
TENSOR = r"[HIQ]?G?MMA|wgmma\.mma_async|mma\.sync"


class Instruction:
    def __init__(self, opcode, predicate, operands):
        self.opcode, self.predicate, self.operands = opcode, predicate, operands
        self.target = None  # index of the instruction that a branch names

    def is_branch(self):
        return self.opcode.split(".")[0].upper() == "BRA"

    def ends_path(self):
        """Whether the next instruction is never next."""
        always = self.predicate in ("", "@PT", "@UPT") and "," not in self.operands
        return always and self.opcode.split(".")[0].upper() in ("BRA", "EXIT", "RET")


def read(path):
    """The instructions of each kernel of a cubin or a PTX file."""
    return read_ptx(path) if path.endswith(".ptx") else read_cubin(path)


def read_cubin(path):
    program = os.environ.get("SELVEDGE_NVDISASM", "nvdisasm")
    text = subprocess.run([program, "-json", path], check=True, capture_output=True, text=True).stdout
    kernels = {}
    for function in json.loads(text)[1]:
        code = [Instruction(i["opcode"], i.get("predicate", ""), i.get("operands", "")) for i in function["sass-instructions"]]
        for instruction in filter(Instruction.is_branch, code):
            instruction.target = int(re.search(r"0x([0-9a-f]+)$", instruction.operands)[1], 16) // SASS_BYTES
        kernels[function["function-name"]] = code
    return kernels


def read_ptx(path):
    with open(path) as file:
        text = re.sub(r"//.*|^\s*\.loc .*", "", file.read(), flags=re.M)
    kernels = {}
    for name, body in re.findall(r"\.entry (\w+)\([^)]*\)[^{]*\{(.*?)\n\}", text, re.S):
        code, labels = [], {}
        for statement in body.split(";"):
            labels.update((label, len(code)) for label in re.findall(r"(?:^|\s)([$\w]+):(?!:)", statement))
            statement = re.sub(r"(?:^|(?<=\s))[$\w]+:(?!:)", "", statement).strip(" \t\n{}")
            if found := re.match(r"(@!?%?\w+)?\s*([a-z][\w.:]*)\s*(.*)", statement, re.S):
                code.append(Instruction(found[2], found[1] or "", found[3]))
        for instruction in filter(Instruction.is_branch, code):
            instruction.target = labels[instruction.operands.strip()]
        kernels[name] = code
    return kernels


def blocks(code):
    """The end of each basic block, and the blocks that may follow it, by its first instruction."""
    following = []
    for index, instruction in enumerate(code):
        after = [] if instruction.ends_path() else [index + 1]
        after += [] if instruction.target is None else [instruction.target]
        following.append([i for i in after if i < len(code)])
    leaders = {0} | {i for index, after in enumerate(following) if after != [index + 1] for i in after + [index + 1]}
    starts = sorted(leader for leader in leaders if leader < len(code))
    ends = dict(zip(starts, starts[1:] + [len(code)]))
    return ends, {start: following[end - 1] for start, end in ends.items()}


def dominators(edges):
    """The blocks on every path to each block that can be reached, and the blocks before it."""
    reached, pending = set(), [0]
    while pending:
        block = pending.pop()
        if block not in reached:
            reached.add(block)
            pending += edges[block]
    before = collections.defaultdict(list)
    for block in reached:
        for following in edges[block]:
            before[following].append(block)
    result = {block: set(reached) for block in reached}
    result[0] = {0}
    changed = True
    while changed:
        changed = False
        for block in sorted(reached - {0}):
            through = set.intersection(*(result[b] for b in before[block])) | {block}
            changed |= through != result[block]
            result[block] = through
    return result, before


def natural_loops(edges):
    """The blocks of each loop by the loop's first block."""
    dominated_by, before = dominators(edges)
    loops = collections.defaultdict(set)
    for block, above in dominated_by.items():
        for header in set(edges[block]) & above:
            body, pending = {header}, [block]
            while pending:
                inner = pending.pop()
                if inner not in body:
                    body.add(inner)
                    pending += before[inner]
            loops[header] |= body
    return loops


def shortest_way(header, body, ends, edges):
    """The blocks of a loop on the way around it that has the fewest instructions."""
    pending, done = [(0, header, [header])], set()
    while pending:
        length, block, way = heapq.heappop(pending)
        if block in done:
            continue
        done.add(block)
        if header in edges[block]:
            return way
        for following in set(edges[block]) & body:
            heapq.heappush(pending, (length + ends[block] - block, following, way + [following]))
    return sorted(body)


def hot_loops(code, opcode=TENSOR, shortest_ways=False):
    """The instructions of the innermost loops with tensor-core instructions, or others, wherever ptxas has put them; or those of the shortest way around each."""
    ends, edges = blocks(code)
    inside = lambda body: [i for start in sorted(body) for i in code[start : ends[start]]]
    hot = {header: body for header, body in natural_loops(edges).items() if any(re.match(opcode, i.opcode) for i in inside(body))}
    innermost = [(header, body) for header, body in sorted(hot.items()) if not any(other < body for other in hot.values())]
    return [inside(shortest_way(header, body, ends, edges) if shortest_ways else body) for header, body in innermost]
