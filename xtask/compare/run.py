"""Feeds the project's vectors to a parser of a Python package, and writes down its answers.

    python run.py [--costs] PARSER CASES ANSWERS

`PARSER` is a key of `readers.READERS`. Each line of `CASES` is a case with the pieces of its runs;
the first run is the whole text. Each line of `ANSWERS` has the answers to one case, run by run.

With `--costs` each line of `CASES` has the pieces of one stream, and each line of `ANSWERS` the
nanoseconds for a piece. A parser with a wrong answer has no line.
"""

from __future__ import annotations

import json
import logging
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

# The engines of the Python package's tests.
sys.path.insert(0, str(Path(__file__).parents[2] / "crates/python/engine_tests"))

from engines import Answer
from readers import READERS
from support import NotAdmitted

# The longest time that a run may take, in seconds.
RUN_SECONDS = 10
# How often the time of a stream is taken, unless that takes longer than a run may.
REPEATS = 5


def answer_of(read: Any, *arguments: Any) -> Answer:
    """Return the answer, or that the parser failed."""
    # Again each second, because parsers catch exceptions.
    seconds = getattr(read.__self__, "run_seconds", RUN_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        return read(*arguments)
    except NotAdmitted:
        raise
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


def is_right(answer: Answer, case: Any) -> bool:
    """Return whether the answer has the content and the calls of the stream."""
    try:
        calls = [[name, json.loads(text)] for name, text in answer.calls]
    except ValueError:
        return False
    wanted = [[name, json.loads(text)] for name, text in case["calls"]]
    return calls == wanted and answer.content.strip() == case["content"].strip()


def cost_of(reader: Any, name: str, case: Any) -> dict[str, Any] | None:
    """Return the time for a piece, if the parser reads the stream right."""
    pieces, times = case["pieces"], []
    while len(times) < REPEATS and sum(times) < RUN_SECONDS:
        start = time.perf_counter()
        answer = answer_of(reader.stream, name, case, pieces)
        times.append(time.perf_counter() - start)
        late = times[-1] >= RUN_SECONDS
        if not late and not is_right(answer, case):
            return None
    # The first stream also loads and prepares.
    median = statistics.median(times[1:] or times)
    found = {"work": case["work"], "nanoseconds": median * 1e9 / len(pieces)}
    return found | {"at_least": median >= RUN_SECONDS}


def costs(reader: Any, engine: str, cases: str, answers: str) -> None:
    """Write the times of the streams that the parser reads right."""
    lines = Path(cases).read_text(encoding="utf-8").splitlines() if reader.streams else []
    with Path(answers).open("w", encoding="utf-8") as write:
        for case in map(json.loads, lines):
            known = reader.names(calls=True)
            name = next((n for n in case["names"].get(engine, []) if n in known), None)
            found = cost_of(reader, name, case) if name else None
            if found:
                write.write(json.dumps(found) + "\n")


def too_long(*_: Any) -> None:
    raise TimeoutError("the run took too long")


def main() -> None:
    engine, cases, answers = sys.argv[-3:]
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, too_long)
    reader = READERS[engine]()
    if "--costs" in sys.argv:
        costs(reader, engine, cases, answers)
        return
    count = not_admitted = 0
    made: set[tuple[str, str]] = set()
    skipped: set[tuple[str, str]] = set()
    with (
        Path(cases).open(encoding="utf-8") as read,
        Path(answers).open("w", encoding="utf-8") as write,
    ):
        for line in read:
            case = json.loads(line)
            known = reader.names(calls=case["kind"] != "reasoning")
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
            try:
                runs = [answer_of(reader.whole, name, case, case["runs"][0][0])]
            except NotAdmitted:
                not_admitted += 1
                continue
            if reader.streams:
                runs += [answer_of(reader.stream, name, case, one) for one in case["runs"][1:]]
            found = {"parser": engine, "id": case["id"], "runs": [vars(one) for one in runs]}
            line = json.dumps(found, ensure_ascii=False)
            # Half of a surrogate pair is no text.
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            write.write(line + "\n")
            count += 1
    if not_admitted:
        print(f"skipped {not_admitted} cases: its grammar does not let a model write these texts")
    print(f"{engine}: {count} cases")
    if hasattr(reader, "close"):
        reader.close()


if __name__ == "__main__":
    main()
