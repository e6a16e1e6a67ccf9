"""Run the benchmarks: both frameworks in turn, a table on the terminal, JSON in `results/`.

Each framework lives in a process of its own, as two OpenMP runtimes in one process disturb each
other. The two take turns case by case and round by round, so that a change of clock or load affects
both. Run `python -m benchmarks.harness --help` for the choices.
"""

import argparse
import contextlib
import dataclasses
import datetime
import json
import math
import os
import statistics
from pathlib import Path
from typing import Any

from benchmarks import (
    compilers,
    device,
    device_groups,
    graph,
    machine,
    memory,
    pictures,
    scripts,
    startup,
)
from benchmarks.case import ASKED_GROUPS, CUDA_GROUPS, GROUPS, Case, Group, all_cases, steps
from benchmarks.roofline import Rates
from benchmarks.rows import (
    Row,
    Screen,
    Side,
    as_json,
    geometric_mean,
    is_tree,
    run_case,
    seconds_text,
)

RESULTS = Path(__file__).parent / "results"
IMPORT_BAR = 12.0
SIZE_BAR = 100e6
OTHER_GROUPS = ("graph", "images", "memory", "scripts", "import", "size")
BUILDS = ("compilers",)  # which build for long, and only if they are asked for
SAME_SPEED = 0.97  # the bar beside another tree of Flambeau
QUICK_SECONDS = 120.0  # after which no more cases on a GPU are run with --quick


def measured_rates(rows: list[Row]) -> Rates:
    """The rates of the machine, from the rows of the group `machine`; the faster side counts."""
    flops = bytes = 0.0
    for row in rows:
        if row.error or not row.case.work:
            raise RuntimeError(f"{row.name}: {row.error or 'no work is declared'}")
        seconds = min(statistics.median(row.ours), statistics.median(row.theirs))
        flops = max(flops, row.case.work.flops / seconds)
        bytes = max(bytes, row.case.work.bytes / seconds)
    Screen().line(f"  {flops / 1e9:.0f} GFLOP/s and {bytes / 1e9:.1f} GB/s\n")
    return Rates(flops, bytes)


def run_group(
    group: Group,
    cases: list[Case],
    modules: tuple[str, str],
    threads: int,
    rounds: int,
    rates: Rates | None,
) -> tuple[list[Row], dict[str, Any]]:
    """Run the cases of one group and print them; the summary goes into the JSON file."""
    screen = Screen()
    header = f"{group.title}  ({group.name})"
    shown = [os.path.basename(os.path.normpath(module))[:9] for module in modules]
    screen.line(f"{header:46} {shown[0]:>9} {shown[1]:>9}   ratio")
    rows: list[Row] = []
    with Side(modules[0], threads) as ours, Side(modules[1], threads) as theirs:
        origins = [ours.origin, theirs.origin]
        for done, case in enumerate(cases):
            screen.progress(f"  [{done + 1}/{len(cases)}] {case.name} …")
            rows.append(run_case(case, ours, theirs, rounds))
            screen.row(rows[-1], rates)
    measured = [row for row in rows if not row.error]
    summary: dict[str, Any] = {
        "origins": origins,
        "rows": [as_json(row, rates) for row in rows],
        "bar": group.mean_bar,
    }
    if measured:
        mean = geometric_mean([row.ratio for row in measured])
        worst = min(measured, key=lambda row: row.ratio / row.case.least_ratio)
        summary |= {"mean": mean, "worst": worst.ratio, "worst_name": worst.name}
        good = mean >= group.mean_bar and worst.is_good
        text = f"geometric mean {mean:.2f} (bar {group.mean_bar:g}), "
        text += f"worst {worst.ratio:.2f} (bar {worst.case.least_ratio:g}): {worst.name}"
        missing = len(rows) - len(measured)
        screen.line(f"  {text}{f', {missing} rows failed' if missing else ''}", good)
    screen.line()
    return rows, summary


def run_scaling(
    cases: list[Case], modules: tuple[str, str], threads: int, rounds: int
) -> dict[str, Any]:
    """Compare operators at 1, 2, 4, ... threads, up to `threads`."""
    screen = Screen()
    group = GROUPS["scaling"]
    counts = sorted({2**power for power in range(threads.bit_length())} | {threads})
    header = f"{group.title}  ({group.name})"
    screen.line(f"{header:46} ratio at " + " ".join(f"{n:>6}" for n in counts) + "  threads")
    rows: list[dict[str, Any]] = []
    ratios: list[float] = []
    with Side(modules[0], threads) as ours, Side(modules[1], threads) as theirs:
        for case in cases:
            found: list[Row] = []
            for count in counts:
                screen.progress(f"  {case.name} on {count} …")
                for side in (ours, theirs):
                    side.set_threads(count)
                found.append(run_case(case, ours, theirs, rounds))
            failed = next((row for row in found if row.error), None)
            if failed:
                screen.row(failed, None)
                rows.append(as_json(failed, None))
                continue
            rows.append(
                {
                    "name": case.name,
                    "threads": counts,
                    "ours_seconds": [statistics.median(row.ours) for row in found],
                    "theirs_seconds": [statistics.median(row.theirs) for row in found],
                }
            )
            ratios.append(found[-1].ratio)
            text = " ".join(f"{row.ratio:6.2f}" for row in found)
            good = all(row.is_good for row in found)
            mark = "" if good else f"  below {case.least_ratio:g}"
            screen.line(f"  {case.name:53} {text}{mark}", None if good else False)
    summary: dict[str, Any] = {"rows": rows, "bar": group.mean_bar}
    if ratios:
        summary["mean"] = mean = geometric_mean(ratios)
        text = f"geometric mean on {threads} threads {mean:.2f} (bar {group.mean_bar:g})"
        screen.line(f"  {text}", mean >= group.mean_bar)
    screen.line()
    return summary


def run_import(modules: tuple[str, str], rounds: int) -> dict[str, Any]:
    """Compare the time of `import` in fresh processes."""
    screen = Screen()
    screen.progress("  importing …")
    seconds = startup.import_seconds(modules, rounds)
    ours, theirs = (seconds[module] for module in modules)
    ratio = theirs / ours
    text = f"import                {seconds_text(ours)} against {seconds_text(theirs)}: "
    text += f"{ratio:.1f} times faster"
    screen.line(f"{text} (bar {IMPORT_BAR:g})", ratio >= IMPORT_BAR)
    return {"ours_seconds": ours, "theirs_seconds": theirs, "ratio": ratio, "bar": IMPORT_BAR}


def run_size(modules: tuple[str, str]) -> dict[str, Any]:
    """Compare the size of the installations."""
    ours, theirs = (startup.installed_bytes(module) for module in modules)
    text = f"installed size        {ours / 1e6:.0f} MB against {theirs / 1e6:.0f} MB"
    Screen().line(f"{text} (bar {SIZE_BAR / 1e6:.0f} MB)", ours <= SIZE_BAR)
    return {"ours_bytes": ours, "theirs_bytes": theirs, "bar_bytes": SIZE_BAR}


def run_graph(modules: tuple[str, str]) -> dict[str, Any]:
    """Long graphs: whether a node costs the same in each, and how much memory it takes."""
    screen = Screen()
    screen.progress("  long graphs …")
    found = {name: [graph.measure(module, name) for module in modules] for name in graph.MEASURES}
    ours, theirs = found["seconds"]
    growth = ours[-1] / ours[0]
    times = ", ".join(
        f"{seconds_text(a)} ({seconds_text(b)}) of {n:.0e} nodes"
        for n, a, b in zip(graph.LENGTHS, ours, theirs, strict=True)
    )
    screen.line(f"backward and drop, a node        {times}", growth <= graph.LINEAR_BAR)
    for name, what in (("bytes", "h + 1.0"), ("saving_bytes", "h.exp()")):
        a, b = found[name]
        screen.line(f"bytes of a recorded {what:12} {a:.0f} against {b:.0f}", a <= b)
    cost = found["no_grad"][0]
    text = f"in no_grad against no gradients  {cost:.3f} times (torch {found['no_grad'][1]:.3f})"
    screen.line(f"{text} (bar {graph.NO_GRAD_BAR:g})", cost <= graph.NO_GRAD_BAR)
    screen.line()
    return {name: {"ours": a, "theirs": b} for name, (a, b) in found.items()}


def run_images(rounds: int) -> dict[str, Any]:
    """Compare ways from JPEG files to normalised numbers, in images a second."""
    from benchmarks import images  # which needs Pillow

    screen = Screen()
    header = "images a second from JPEG to numbers  (images)"
    screen.line(f"{header:46} " + " ".join(f"{name:>13}" for name in images.COLUMNS))
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        columns = [stack.enter_context(images.Column(name)) for name in images.COLUMNS]
        for name, threads in images.ROWS:
            screen.progress(f"  {name} …")
            wrong = images.agreeing(name, columns)
            columns = [column for column in columns if column.name not in wrong]
            found = images.rates(name, threads, columns, rounds)
            rows.append({"name": name, "threads": threads, "rates": found, "errors": wrong})
            shown = (f"{found[c]:13.0f}" if c in found else f"{'-':>13}" for c in images.COLUMNS)
            title = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
            screen.line(f"  {title:44} " + " ".join(shown), images.is_good(found, threads))
            for error in wrong.values():
                screen.line(f"    {error}", False)
    bars = ", ".join(f"{name} {bar:g}" for name, bar in images.BARS.items())
    screen.line(f"  bar on one thread, in images of torchvision: {bars}")
    screen.line()
    return {"rows": rows, "bars": images.BARS}


def run_compilers(rounds: int, part: str | None) -> dict[str, Any]:
    """Compare what the compilers of the machine build: time of the best / time of each."""
    screen = Screen()
    names = compilers.found()
    if len(names) < 2:
        raise SystemExit(f"compilers: there is nothing to compare, found {names or 'none'}")
    for name in names:
        screen.progress(f"  building with {name} …")
        compilers.build(name)
    header = "time of the best compiler / time of each  (compilers)"
    screen.line(f"{header:56} {'best':>9} " + " ".join(f"{name:>10}" for name in names))
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        columns = [stack.enter_context(compilers.Column(name)) for name in names]
        for case in compilers.CASES:
            if part and part not in case.name:
                continue
            screen.progress(f"  {case.name} …")
            found = compilers.seconds(case, columns, rounds)
            best = min(found.values())
            ratios = {name: best / found[name] for name in names}
            good = min(ratios.values()) >= compilers.BAR
            rows.append({"name": case.name, "seconds": found, "ratios": ratios})
            text = " ".join(f"{ratios[name]:10.2f}" for name in names)
            mark = "" if good else f"  below {compilers.BAR:g}"
            screen.line(
                f"  {case.name:54} {seconds_text(best):>9} {text}{mark}", None if good else False
            )
    means = {name: geometric_mean([row["ratios"][name] for row in rows]) for name in names}
    screen.line(f"  {'geometric mean':64} " + " ".join(f"{means[name]:10.2f}" for name in names))
    screen.line()
    return {"rows": rows, "means": means, "bar": compilers.BAR}


def run_memory(modules: tuple[str, str], threads: int) -> dict[str, Any]:
    """Compare the peak resident set of whole programs, with and without the framework's own."""
    screen = Screen()
    header = f"{'peak resident set':46} {modules[0]:>9} {modules[1]:>9}"
    screen.line(f"{header}   times torch, without the frameworks")
    bare = [memory.peak_bytes(module, "bare", threads) for module in modules]
    rows: list[dict[str, Any]] = []
    for name, program in memory.PROGRAMS.items():
        screen.progress(f"  {name} …")
        try:
            ours, theirs = (memory.peak_bytes(module, name, threads) for module in modules)
        except RuntimeError as error:
            rows.append({"name": name, "error": str(error)})
            screen.line(f"  {name:44} {str(error)[:70]}", False)
            continue
        share, net = ours / theirs, (ours - bare[0]) / max(theirs - bare[1], 1)
        sizes = {"ours_bytes": ours, "theirs_bytes": theirs, "share": share, "net_share": net}
        rows.append({"name": name, **sizes, "bar": program.bar})
        text = f"  {name:44} {ours / 1e6:6.0f} MB {theirs / 1e6:6.0f} MB {share:7.2f}"
        if name != "bare":
            text += f" {net:7.2f}"
        screen.line(f"{text}  (bar {program.bar:g})", share <= program.bar)
    screen.line()
    return {"rows": rows}


def run_scripts(modules: tuple[str, str], threads: int) -> dict[str, Any]:
    """Compare the time of whole programs, one run each in turn: they last for seconds."""
    screen = Screen()
    header = "whole programs  (scripts)"
    screen.line(f"{header:46} {modules[0]:>9} {modules[1]:>9}   ratio")
    rows: list[dict[str, Any]] = []
    for script in scripts.SCRIPTS:
        screen.progress(f"  {script.name} …")
        try:
            ours, theirs = (scripts.seconds(script, module, threads) for module in modules)
        except RuntimeError as error:
            rows.append({"name": script.name, "error": str(error)})
            screen.line(f"  {script.name:44} {str(error)[:70]}", False)
            continue
        ratio = theirs / ours
        rows.append({"name": script.name, "ours_seconds": ours, "theirs_seconds": theirs})
        screen.line(
            f"  {script.name:44} {seconds_text(ours):>9} {seconds_text(theirs):>9} {ratio:7.2f}"
        )
    ratios = [row["theirs_seconds"] / row["ours_seconds"] for row in rows if "error" not in row]
    mean = geometric_mean(ratios) if ratios else 0.0
    screen.line(f"  geometric mean {mean:.2f} (bar {scripts.BAR:g})", mean >= scripts.BAR)
    screen.line()
    return {"rows": rows, "mean": mean, "bar": scripts.BAR}


def save(report: dict[str, Any]) -> Path:
    """Write the report under the time of the run, and as `latest.json`."""
    RESULTS.mkdir(exist_ok=True)
    stamp = datetime.datetime.now(tz=datetime.timezone.utc).strftime("%Y%m%d-%H%M%S")
    text = json.dumps(report, indent=1)
    (RESULTS / "latest.json").write_text(text)
    path = RESULTS / f"{stamp}.json"
    path.write_text(text)
    return path


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    choices = [*GROUPS, "cuda", *OTHER_GROUPS, *BUILDS]
    parser.add_argument("--only", action="append", choices=choices, help="run this group alone")
    parser.add_argument("--case", help="run only the cases whose name contains this")
    parser.add_argument(
        "--quick", dest="rounds", action="store_const", const=3, help="three rounds instead of nine"
    )
    parser.add_argument("--rounds", type=int, default=9, help="how often each row is measured")
    parser.add_argument(
        "--threads", type=int, default=machine.processors(), help="all processors if not given"
    )
    parser.add_argument("--module", default="flambeau", help="the module that is judged")
    parser.add_argument(
        "--against",
        default="torch",
        help="the module that it is judged by, or the folder of another tree of Flambeau that "
        "was built (make .venv/.test): for what a change costs",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="how long rows of the device cuda may begin: for ever, or "
        f"{QUICK_SECONDS:g} with --quick",
    )
    parser.add_argument(
        "--small", action="store_true", help="tiny sizes on the device cuda, for an emulator"
    )
    options = parser.parse_args()
    if "cuda" in (options.only or ()):
        options.only += CUDA_GROUPS
    if options.seconds is None:
        options.seconds = QUICK_SECONDS if options.rounds <= 3 else math.inf
    alone = (*OTHER_GROUPS, *BUILDS, "scaling", "cuda", *CUDA_GROUPS)
    if is_tree(options.against) and {*alone} & {*(options.only or ())}:
        parser.error(f"beside another tree, {', '.join(alone)} are not measured")
    return options


def select(part: str | None, chosen: list[str]) -> dict[str, list[Case]]:
    """The cases of each group to run; where some print their share of the roofline, the machine's
    own too.
    """
    # Others' cases need packages that a machine with a GPU may lack.
    cases = all_cases(device_groups.PREFIX if only_cuda(chosen) else "")
    selected: dict[str, list[Case]] = {}
    for name in GROUPS:
        own = [case for case in cases.values() if case.group == name]
        if name in chosen:
            found = steps(cases) if name == "steps" else own
            selected[name] = [case for case in found if not part or part in case.name]
    if any(case.work for name in selected if name not in CUDA_GROUPS for case in selected[name]):
        selected["machine"] = [case for case in cases.values() if case.group == "machine"]
    return selected


def only_cuda(chosen: list[str]) -> bool:
    """Whether nothing but groups of the device cuda was asked for."""
    return {*chosen} <= {"cuda", *CUDA_GROUPS}


def main() -> None:
    options = parse_arguments()
    modules = (options.module, options.against)
    rounds = options.rounds
    is_before = is_tree(options.against)
    usual = [name for name in GROUPS if name not in ASKED_GROUPS]
    chosen = options.only or [*usual, *(() if is_before else OTHER_GROUPS)]
    facts = machine.describe(("flambeau", "torch", "numpy"))
    print(f"{facts['cpu']}, {options.threads} threads; ratio = {modules[1]} / {modules[0]} time\n")
    if os.getloadavg()[0] > 0.5:
        print(f"The machine is busy (load {os.getloadavg()[0]:.1f}): wait, or do not trust this.\n")
    report: dict[str, Any] = {"machine": facts, "threads": options.threads, "groups": {}}
    os.environ |= {device.SMALL: "1"} if options.small else {}
    cases = select(options.case, chosen)
    rates = None
    for name, group in GROUPS.items():
        selected = cases.get(name, [])
        if name in CUDA_GROUPS:
            continue
        if name == "scaling":
            if selected:
                report["groups"][name] = run_scaling(selected, modules, options.threads, rounds)
            continue
        if is_before:
            group = dataclasses.replace(group, mean_bar=SAME_SPEED)
            selected = [dataclasses.replace(case, bar=SAME_SPEED) for case in selected]
        if selected:
            rows, summary = run_group(group, selected, modules, options.threads, rounds, rates)
            report["groups"][name] = summary
            if name == "machine":
                rates = measured_rates(rows)
    on_gpu = {name: cases[name] for name in CUDA_GROUPS if name in chosen}
    if on_gpu:
        found = device_groups.run(on_gpu, modules, options.threads, rounds, options.seconds)
        report["groups"] |= found.groups
        report["gpus"] = found.gpus
    if "graph" in chosen:
        report["groups"]["graph"] = run_graph(modules)
    if "images" in chosen:
        report["groups"]["images"] = run_images(rounds)
    if "compilers" in chosen:
        report["groups"]["compilers"] = run_compilers(rounds, options.case)
    if "memory" in chosen:
        report["groups"]["memory"] = run_memory(modules, options.threads)
    if "scripts" in chosen:
        report["groups"]["scripts"] = run_scripts(modules, options.threads)
    if "import" in chosen:
        report["groups"]["import"] = run_import(modules, rounds)
    if "size" in chosen:
        report["groups"]["size"] = run_size(modules)
    path = save(report)
    print(f"\nwritten to {os.path.relpath(path)}")
    if modules == ("flambeau", "torch"):
        for picture in pictures.draw(report):
            print(f"drawn: {os.path.relpath(picture)}")


if __name__ == "__main__":
    main()
