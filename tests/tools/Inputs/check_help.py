"""Checks `selvedge help --json`, on standard input: every command has --json and examples, and every option with a value a default, or the words "no default"."""

import json
import re
import sys

# What examples have to show somewhere.
SHOWN = ["--arch", "--plan", "--compare", "--layout", "--repeat", "--emit", "--top", "--poison", "--shape", "--set"]

commands = json.load(sys.stdin)["commands"]
wrong, values, shown = [], 0, set()
for command in commands:
    name, known = command["command"], set()
    for option in command["options"]:
        known.update(option["names"])
        if not option["has_value"]:
            continue
        values += 1
        if not option["required"] and not re.search(r"\(.*(default: |no default).*\)", option["description"]):
            wrong.append(f"{name} {option['names'][0]}: no default, and not the words 'no default': {option['description']}")
    if "--json" not in known:
        wrong.append(f"{name}: no --json")
    if not command["examples"]:
        wrong.append(f"{name}: no example")
    for line in command["examples"]:
        used = re.findall(r"(?<= )(--?[a-z][a-z-]*)", line.split("   ")[0].split(" | ")[0])
        wrong += [f"{name}: the example '{line}' has no option {word}" for word in used if word not in known]
        shown.update(used)
wrong += [f"no example has {option}" for option in SHOWN if option not in shown]
print("\n".join(wrong + [f"{len(commands)} commands, {values} options with values"]))
sys.exit(bool(wrong))
