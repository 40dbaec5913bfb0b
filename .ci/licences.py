"""Refuses packages whose licence deny.toml does not allow: cargo metadata ... | .ci/licences.py deny.toml"""

import json
import re
import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    deny = tomllib.load(file)["licenses"]
allowed = set(deny["allow"])
for exception in deny.get("exceptions", []):
    allowed |= set(exception["allow"])


def holds(expression):
    """Whether an SPDX expression holds where only allowed licences do. AND binds more than OR, as in SPDX."""
    expression = re.sub(r"(\S+) WITH [^\s()]+", r"\1", expression.replace("/", " OR "))
    words = re.findall(r"[()]|[^\s()]+", expression)
    return eval(" ".join(w.lower() if w in ("AND", "OR", "(", ")") else str(w in allowed) for w in words))


packages = [p for p in json.load(sys.stdin)["packages"] if p["source"]]
refused = [(p["name"], p["license"]) for p in packages if not p["license"] or not holds(p["license"])]
for name, licence in refused:
    print(f"{name}: {licence} is not in {sys.argv[1]}")
print(f"{len(packages)} packages, {len(refused)} refused")
sys.exit(bool(refused))
