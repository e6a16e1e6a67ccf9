"""``flambeau doctor``: what is installed, what is used, what is wrong and how to mend it."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flambeau import cuda
from flambeau._display.describe import readable_bytes
from flambeau._display.terminal import Style, can_show
from flambeau.cli._machine import Facts, facts
from flambeau.cli._selftest import CHECKS, computes_on_gpu

__all__ = ["add_arguments", "examine", "run"]

_OLDEST_NUMPY = (1, 26)
_MARKS = {"ok": "✓", "note": "•", "problem": "✗"}
_PLAIN_MARKS = {"ok": "ok", "note": "--", "problem": "!!"}
_COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}


@dataclass
class Finding:
    """One line of the report: a subject, what was found, how bad it is, and the remedy."""

    subject: str
    text: str
    status: str = "ok"
    fix: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = """\
examples:
  flambeau doctor                        the whole check
  flambeau doctor && python train.py     train only if everything is in order

The exit code is 1 if there is a problem."""


def run(arguments: argparse.Namespace) -> int:
    problems = 0
    for title, findings in examine(facts()):
        print(f"\n{_style(title, 'bold')}")
        for finding in findings:
            print(_line(finding), flush=True)
            problems += finding.status == "problem"
    words = {0: "Everything is in order.", 1: "There is one problem."}
    print("\n" + words.get(problems, f"There are {problems} problems."))
    return min(problems, 1)


def examine(found: Facts) -> Iterator[tuple[str, Iterator[Finding]]]:
    """The sections of the report, each worked out when its turn comes."""
    sections: dict[str, Callable[[Facts], Iterator[Finding]]] = {
        "Versions": _versions,
        "Processor": _processor,
        "Memory": _memory,
        "Libraries": _libraries,
        "GPU": _gpu,
    }
    for title, section in sections.items():
        yield title, section(found)
    yield "Self test", _self_test()


def _versions(found: Facts) -> Iterator[Finding]:
    flambeau, python = found["flambeau"], found["python"]
    yield Finding("Flambeau", f"{flambeau['version']}, built with {flambeau['compiler']}")
    yield Finding("installed in", flambeau["path"])
    yield Finding("follows", f"PyTorch {flambeau['follows_pytorch']}")
    yield Finding("Python", f"{python['version']}, {python['executable']}")
    yield Finding("platform", found["platform"])


def _processor(found: Facts) -> Iterator[Finding]:
    cpu = found["cpu"]
    yield Finding("model", f"{cpu['model']}, {cpu['count']} processors")
    yield Finding("features", " ".join(cpu["features"]) or "none that matter")
    yield _level(cpu, found["environment"])
    yield _threads(found["threads"])


def _level(cpu: Facts, environment: Facts) -> Finding:
    text = f"{cpu['level']} (of {', '.join(cpu['levels'])})"
    asked = environment.get("FLAMBEAU_ISA")
    if asked is None:
        return Finding("kernels", text)
    return Finding("kernels", f"{text}, FLAMBEAU_ISA={asked}", "note", "unset FLAMBEAU_ISA")


def _threads(threads: Facts) -> Finding:
    """How many compute, and which of the limits decided."""
    affinity, quota, asked = threads["affinity"], threads["quota"], threads["requested"]
    variable = threads["variable"]
    limits = [f"affinity {affinity}", f"quota {quota:g}" if quota else "no quota"]
    text = f"{threads['used']} ({', '.join(limits)}"
    allowed = min(affinity, math.ceil(quota)) if quota else affinity
    if not asked:
        return Finding("threads", text + ")")
    text += f", {variable}={asked})"
    if asked > allowed:
        return Finding("threads", text, "problem", f"export {variable}={allowed}, or unset it")
    if asked < allowed:
        return Finding("threads", text, "note", f"unset {variable} to use {allowed}")
    return Finding("threads", text)


def _memory(found: Facts) -> Iterator[Finding]:
    memory = found["memory"]
    total, free = memory["total"], memory["available"]
    if total is not None and free is not None:
        limit = memory["limit"]
        most = f", at most {readable_bytes(limit)} by the control group" if limit else ""
        yield Finding("memory", f"{readable_bytes(free)} free of {readable_bytes(total)}{most}")


def _libraries(found: Facts) -> Iterator[Finding]:
    libraries = found["libraries"]
    yield _numpy(libraries["numpy"])
    uses = {"onednn": ("oneDNN", "products, convolutions"), "openblas": ("OpenBLAS", "LAPACK")}
    for key, (name, use) in uses.items():
        library = libraries[key]
        if library:
            yield Finding(name, f"{library['version']}, {library['path']}")
        else:
            fix = f"python -m pip install --force-reinstall flambeau, or build it with {name}:\n"
            fix += f"python -m pip install . -C cmake.define.FB_{key.upper()}=ON"
            yield Finding(name, f"built without it, so {use} are slow", "problem", fix)
    yield _jpeg(libraries["jpeg"])


def _jpeg(library: Facts | None) -> Finding:
    if library:
        return Finding("libjpeg-turbo", f"{library['version']}, {library['path']}")
    fix = (
        "install libjpeg-turbo's header (libjpeg62-turbo-dev, libjpeg-turbo-devel) and build again"
    )
    return Finding("libjpeg-turbo", "built without it: Pillow decodes JPEG files", "note", fix)


def _numpy(version: str | None) -> Finding:
    fix = 'python -m pip install "numpy>=1.26"'
    if version is None:
        return Finding("NumPy", "missing", "problem", fix)
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_NUMPY:
        return Finding("NumPy", f"{version} is too old", "problem", fix)
    return Finding("NumPy", version)


def _gpu(found: Facts) -> Iterator[Finding]:
    cuda = found["cuda"]
    if not cuda["driver"] and "no NVIDIA driver" not in cuda["missing"]:
        yield Finding("GPU", cuda["missing"], "note", cuda["remedy"])
        return
    if not cuda["driver"]:
        fix = "with an NVIDIA GPU: apt-get install nvidia-driver, then try nvidia-smi;\n"
        fix += "in a container: docker run --gpus all ..."
        yield Finding("driver", "libcuda.so.1 was not found", "note", fix)
        return
    yield Finding("driver", f"for CUDA {cuda['driver']}")
    if cuda["missing"]:
        yield Finding("CUDA", cuda["missing"], "problem", cuda["remedy"])
    for number, gpu in enumerate(cuda["devices"]):
        text = f"{gpu['name']}, {readable_bytes(gpu['memory'])}, capability {gpu['capability']}"
        yield Finding(f"GPU {number}", text)
    if cuda["devices"]:
        yield _cuda_library("NVRTC", cuda["compiler"])
        yield _cuda_library("cuBLASLt", cuda["products"], "matrix products take a slower kernel")
        yield _cuda_library("cuDNN", cuda["convolutions"], "convolutions take a slower kernel")
        yield _cache(cuda["cache"])


def _cuda_library(name: str, library: Facts, without: str = "") -> Finding:
    if library["missing"]:
        text, _, fix = library["missing"].rpartition(" (")
        text = f"{text}: {without}" if without else text
        return Finding(name, text, "note" if without else "problem", fix.rstrip(")"))
    return Finding(name, f"{library['version']}, {library['path']}")


def _cache(cache: Facts) -> Finding:
    """Whether compiled kernels are kept for the next process."""
    folder, variable = cache["folder"], "FLAMBEAU_CUDA_CACHE"
    if not folder:
        fix = f"unset {variable}" if cache["chosen"] else f"export {variable}=FOLDER"
        return Finding("kernel cache", "none are kept: every process compiles them", "note", fix)
    if not cache["writable"]:
        fix = f"chmod u+rwx {folder}, or export {variable}=ANOTHER_FOLDER"
        text = f"{folder} cannot be written to: every process compiles its kernels"
        return Finding("kernel cache", text, "problem", fix)
    return Finding("kernel cache", f"kept in {folder}, {readable_bytes(cache['bytes'])}")


def _self_test() -> Iterator[Finding]:
    checks = CHECKS | ({"GPU": computes_on_gpu} if cuda.is_available() else {})
    for subject, check in checks.items():
        start = time.perf_counter()
        try:
            check()
        except Exception as error:  # whatever it is, the other checks still tell something
            text = f"{type(error).__name__}: {error}"
            fix = "report it together with the output of `flambeau info --json`"
            yield Finding(subject, text, "problem", fix)
        else:
            yield Finding(subject, f"{(time.perf_counter() - start) * 1e3:.1f} ms")


def _style(text: str, *names: str) -> str:
    return Style(sys.stdout)(text, *names)


def _line(finding: Finding) -> str:
    marks = _MARKS if can_show(sys.stdout, "".join(_MARKS.values())) else _PLAIN_MARKS
    mark = _style(f"{marks[finding.status]:2}", _COLOURS[finding.status])
    lines = [f"  {mark} {finding.subject:15} {finding.text}"]
    for number, fix in enumerate(finding.fix.splitlines()):
        lines.append(f"     {'':15} {'fix: ' if number == 0 else '     '}{fix}")
    return "\n".join(lines)
