"""The answers to requests for other names, on standard input, a line each: the number of the request, the file, the name and its places."""

import json
import sys


def places(edits):
    starts = [edit["range"]["start"] for edit in edits]
    return " ".join(f"{at['line'] + 1}:{at['character'] + 1}" for at in starts)


text, at = sys.stdin.read(), 0
while (at := text.find("{", at)) >= 0:
    message, at = json.JSONDecoder().raw_decode(text, at)
    result = message.get("result") or {}
    if "error" in message:
        print(f"{message['id']}: error: {message['error']['message']}")
    elif "placeholder" in result:
        print(f"{message['id']}: {result['placeholder']} at {places([result])}")
    for uri, edits in result.get("changes", {}).items():
        names = {edit["newText"] for edit in edits}
        print(f"{message['id']}: {uri.split('/')[-1]} {' '.join(names)} at {places(edits)}")
