"""Answers of one library to questions, one line of JSON each, in the environment of that library.

python worker.py NAME TASK [BYTES] reads questions on standard input; each answer is written at
once, so that whoever asks sees which question was never answered. BYTES of data are the most that
it may allocate, 0 for any number. A pair is a lower end and the answer.
"""

import importlib
import json
import resource
import sys
from time import process_time
from warnings import simplefilter


def main(name: str, task: str, memory: str = "0") -> None:
    """Answer until there is no question left."""
    simplefilter("ignore")
    if int(memory):
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    answer = getattr(importlib.import_module(f"adapters.{name.replace('-', '_')}"), task)
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        start = process_time()
        try:
            found = answer(*json.loads(line))
            low, value = found if isinstance(found, tuple) else (None, found)
            said = {"value": float(value)} | ({} if low is None else {"lower": float(low)})
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001  # a panic of Rust is no Exception
            said = {"error": f"{type(error).__name__}: {error}"[:200]}
        used = {
            "seconds": process_time() - start,
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        }
        print(json.dumps(said | used), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
