"""Feeds the project's vectors to a parser of a Python package, and writes down its answers.

    python run.py PARSER CASES ANSWERS

`PARSER` is a key of `readers.READERS`. Each line of `CASES` is a case with the pieces of its runs;
the first run is the whole text. Each line of `ANSWERS` has the answers to one case, run by run.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
from pathlib import Path
from typing import Any

# The engines of the Python package's tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "bindings/python/engine_tests"))

from engines import Answer
from readers import READERS

# The longest time that a run may take, in seconds.
RUN_SECONDS = 10


def answer_of(read: Any, *arguments: Any) -> Answer:
    """Return the answer, or that the parser failed."""
    # Again each second, because parsers catch exceptions.
    signal.setitimer(signal.ITIMER_REAL, RUN_SECONDS, 1)
    try:
        return read(*arguments)
    except Exception as error:  # noqa: BLE001
        answer = Answer()
        answer.failure = f"{type(error).__name__}: {error}"[:200]
        return answer
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def reason_of(reader: Any, name: str, case: Any) -> str | None:
    """Return why the parser cannot be made, if it cannot."""
    try:
        reader.parser(name, case)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return None


def too_long(*_: Any) -> None:
    raise TimeoutError("the run took too long")


def main() -> None:
    engine, cases, answers = sys.argv[1:4]
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)
    reader = READERS[engine]()
    count = 0
    made: set[tuple[str, str]] = set()
    skipped: set[tuple[str, str]] = set()
    with (
        Path(cases).open(encoding="utf-8") as read,
        Path(answers).open("w", encoding="utf-8") as write,
    ):
        for line in read:
            case = json.loads(line)
            known = reader.names(calls=case["kind"] == "tools")
            name = next((n for n in case["names"].get(engine, []) if n in known), None)
            if name is None or (case["kind"], name) in skipped:
                continue
            # A parser that needs something else than text is not judged.
            reason = reason_of(reader, name, case) if (case["kind"], name) not in made else None
            if reason:
                skipped.add((case["kind"], name))
                print(f"skipped `{name}` ({case['kind']}): {reason}")
                continue
            made.add((case["kind"], name))
            runs = [answer_of(reader.whole, name, case, case["runs"][0][0])]
            if reader.streams:
                runs += [answer_of(reader.stream, name, case, one) for one in case["runs"][1:]]
            found = {"parser": engine, "id": case["id"], "runs": [vars(one) for one in runs]}
            line = json.dumps(found, ensure_ascii=False)
            # Half of a surrogate pair is no text.
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            write.write(line + "\n")
            count += 1
    print(f"{engine}: {count} cases")


if __name__ == "__main__":
    main()
