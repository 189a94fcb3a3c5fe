# The table of a program that tries clients of the Python package: its cases, one after the other.
# SPDX-License-Identifier: MIT
import faulthandler
import json
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = []


def find_package():
    """Puts the package of an unpacked archive, or of this tree, on the path."""
    for folder in ("../../share/selvedge/python", "../../runtime/python"):
        if os.path.isdir(os.path.join(HERE, folder, "selvedge")):
            sys.path.insert(0, os.path.join(HERE, folder))


def record(case, passed, **facts):
    ROWS.append({"case": case, "pass": bool(passed), **facts})
    words = "  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in facts.items())
    print(f"{'ok  ' if passed else 'FAIL'} {case:64s} {words}", flush=True)


def cases_of(names):
    """Functions called case_NAME, by NAME."""
    return {name[5:]: function for name, function in list(names.items()) if name.startswith("case_")}


def parse(parser, cases):
    """The options of all such programs, beside the parser's own. --list ends the program."""
    parser.add_argument("--only", help=f"of {', '.join(cases)}")
    parser.add_argument("--json", "--out", dest="out", help="the table as JSON, written as cases end")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no case begins; half as much again later the program ends itself")
    parser.add_argument("--list", action="store_true", help="only print the names of the cases")
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else list(cases)
    if unknown := [name for name in options.only if name not in cases]:
        parser.error(f"there is no case {', '.join(unknown)}; there are {', '.join(cases)}")
    if options.list:
        print("\n".join(options.only))
        sys.exit()
    return options


def run(cases, options):
    """Does not return: the status says whether all passed."""
    if options.budget:
        # A kernel that does not end would be waited for without end.
        faulthandler.dump_traceback_later(1.5 * options.budget, exit=True)
    deadline = time.perf_counter() + (options.budget or 1e9)
    for name in options.only:
        start = time.perf_counter()
        if start > deadline:
            print(f"     {name}: left out for want of time", flush=True)
            continue
        try:
            cases[name]()
        except Exception as failure:  # a client that raises is a failed case, and hides no other
            traceback.print_exc()
            record(f"{name} raised", False, message=str(failure)[:300])
        print(f"     {name}: {time.perf_counter() - start:.0f} s", flush=True)
        if options.out:
            with open(options.out, "w", encoding="utf-8") as file:
                json.dump(ROWS, file, indent=1)
    failed = sum(not row["pass"] for row in ROWS)
    print(f"{len(ROWS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
