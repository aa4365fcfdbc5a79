#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recipes of package managers say what the build says.

debian/ and the recipes in package/ have the name, version, license, summary,
needs and options of meson.build, meson_options.txt and CITATION.cff.  A recipe
sets each option whose value would follow from what a machine happens to have.
77: no module yaml.
"""

import ast
import re
import sys
import types

try:
    import yaml
except ImportError:
    print("no module yaml (Debian: python3-yaml)")
    sys.exit(77)

from documents import ROOT  # noqa: E402

# What a build needs, as each calls it; None: it comes without a word.
NEEDS = {
    "MPI": {"debian": "mpi-default-dev", "spack": "mpi", "easybuild": None,
            "conda": "MPI"},
    "Meson": {"debian": "meson", "spack": "meson", "easybuild": "Meson",
              "conda": "meson"},
    "Ninja": {"debian": None, "spack": None, "easybuild": "Ninja",
              "conda": "ninja"},
    "pkg-config": {"debian": "pkg-config", "spack": "pkgconfig",
                   "easybuild": "pkgconf", "conda": "pkg-config"},
    "Python": {"debian": "python3", "spack": "python", "easybuild": "Python",
               "conda": "python"},
    "C": {"debian": None, "spack": "c", "easybuild": None, "conda": "c"},
    "Fortran": {"debian": "gfortran", "spack": "fortran", "easybuild": None,
                "conda": "fortran"},
    "nettle": {"debian": "nettle-dev", "spack": "nettle",
               "easybuild": "nettle", "conda": "nettle"},
}
# Tools of the packagers.
OTHERS = {"debhelper-compat", "chrpath", "dh-python", "stdlib"}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


class Build:
    """What meson.build, its options and CITATION.cff say."""

    def __init__(self):
        text = read("meson.build")

        def said(pattern, where):
            return re.search(pattern, where)[1]

        self.name = said(r"project\('(\w+)'", text)
        self.version = said(r"\n  version: '([\d.]+)'", text)
        self.license = said(r"\n  license: '([\w.-]+)'", text)
        self.meson = said(r"meson_version: '>=([\d.]+)'", text)
        self.nettle = said(r"'nettle', version: '>=([\d.]+)'",
                           read("workloads/meson.build"))
        self.summary = said(r"description: '([^']*)'", read("src/meson.build"))
        major, minor = self.version.split(".")[:2]
        self.soversion = f"0.{minor}" if major == "0" else major
        self.cited = yaml.safe_load(read("CITATION.cff"))
        rows = re.findall(r"option\('(\w+)', type: '(\w+)', value: '?(\w+)",
                          read("meson_options.txt"))
        self.kinds = {name: kind for name, kind, _ in rows}
        examples = "".join(path.read_text(encoding="utf-8") for path in
                           (ROOT / "examples").rglob("meson.build"))
        self.open = {name for name, kind, value in rows
                     if kind == "feature" and value == "auto" and
                     f"get_option('{name}')" not in examples}

    def allows(self, name, value):
        allowed = {"boolean": {"true", "false"},
                   "feature": {"enabled", "disabled", "auto"}}
        kind = self.kinds.get(name)
        return kind == "string" or value in allowed.get(kind, ())


class Recipe:
    """One of them: needs as a name and the lowest version, or ''."""

    def __init__(self, kind, **said):
        self.kind = kind
        self.needs = said.pop("needs")
        self.options = dict(re.findall(r"-D(\w+)=(\S+)", said.pop("options")))
        self.said = said


def debian():
    control = read("debian/control")
    rules = read("debian/rules")
    needs = re.search(r"Build-Depends: (.*?)\n\w", control, re.S)[1]
    # The tests are an option of whoever builds.
    rules = re.sub(r"\$\(if .*\)", "false", rules)
    return Recipe(
        "debian", name=re.search(r"Source: (\S+)", control)[1],
        version=re.search(r"\((.*)-\d+\)", read("debian/changelog"))[1],
        license=re.search(r"^License: (\S+)", read("debian/copyright"),
                          re.M)[1],
        summary=re.search(r"\nDescription: (.*) \(", control)[1],
        needs=re.findall(r"([\w-]+)(?::any)?(?: \(>?= ([\d.]+)\))?,?", needs),
        options=rules)


def spack():
    """Its directives are recorded; Spack itself is not here."""
    said = {"needs": [], "versions": []}
    package = types.ModuleType("spack.package")
    package.license = lambda text: said.update(license=text)
    package.version = lambda text, **_: said["versions"].append(text)
    package.variant = lambda name, **_: said.setdefault("variant", name)
    package.depends_on = lambda spec, **_: said["needs"].append(
        re.match(r"([\w-]+)(?:@([\d.]+):)?$", spec).groups(""))
    package.extends = lambda *_, **__: None
    base = types.ModuleType("spack_repo.builtin.build_systems.meson")
    base.MesonPackage = object
    sys.modules.update({
        "spack": types.ModuleType("spack"), "spack.package": package,
        "spack_repo": types.ModuleType("spack_repo"),
        "spack_repo.builtin": types.ModuleType("builtin"),
        "spack_repo.builtin.build_systems": types.ModuleType("systems"),
        "spack_repo.builtin.build_systems.meson": base})
    names = {}
    exec(compile(read("package/spack/package.py"), "package.py", "exec"), names)
    made = names["Evenkeel"]()

    class Spec(dict):
        def satisfies(self, variant):
            return variant.startswith("+")

    made.spec = Spec(mpi=types.SimpleNamespace(mpicc="/mpi/bin/mpicc"))
    return Recipe("spack", name=type(made).__name__.lower(),
                  version=said["versions"][-1], license=said["license"],
                  summary=made.__doc__.split(":")[0], needs=said["needs"],
                  options=" ".join(made.meson_args()))


def easybuild():
    path, = (ROOT / "package/easybuild").glob("*.eb")
    names = {"SHLIB_EXT": "so"}
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), names)
    made = "{name}-{version}-{toolchain[name]}-{toolchain[version]}.eb".format(
        **names)
    if made != path.name:
        sys.exit(f"package/easybuild/{path.name}: its name would be {made}")
    return Recipe("easybuild", name=names["name"].lower(),
                  version=names["version"], license=None,
                  summary=names["description"].split(":")[0],
                  needs=[*names["builddependencies"], *names["dependencies"]],
                  options=names["configopts"])


def conda():
    """Jinja's values are filled in, its selectors are comments."""
    text = read("package/conda/meta.yaml")
    values = {name: ast.literal_eval(value.split(" or ")[-1]) for name, value in
              re.findall(r"{% set (\w+) = (.*) %}", text)}
    values.update(mpi="MPI", PKG_HASH="hash")

    def fill(match):
        called = re.match(r'\w+\("(\w+)"', match[1])
        if match[1].startswith("stdlib"):
            return "stdlib"
        return called[1] if called else str(values[match[1]])

    text = re.sub(r"{%.*%}", "", text)
    recipe = yaml.safe_load(re.sub(r"{{ (.*?) }}", fill, text))
    needs = recipe["requirements"]
    return Recipe("conda", name=recipe["package"]["name"],
                  version=str(recipe["package"]["version"]),
                  license=recipe["about"]["license"],
                  summary=recipe["about"]["summary"],
                  needs=[re.match(r"([\w-]+)(?: >=([\d.]+))?$", need).groups("")
                         for need in needs["build"] + needs["host"]],
                  options=" ".join(recipe["build"]["script"]))


def number(version):
    return tuple(int(part) for part in version.split("."))


def faults_of(recipe, build):
    """What a recipe says otherwise."""
    for what in ("name", "version", "license", "summary"):
        said, ours = recipe.said[what], getattr(build, what)
        if said is not None and said.lower() != ours.lower():
            yield f"{what} {said}, but of the build {ours}"
    needs = dict(recipe.needs)
    names = {row[recipe.kind] for row in NEEDS.values()} - {None}
    for name in sorted(names - set(needs)):
        yield f"does not need {name}"
    for name in sorted(set(needs) - names - OTHERS):
        yield f"needs {name}, which the others do not"
    for what, least in (("Meson", build.meson), ("nettle", build.nettle)):
        said = needs.get(NEEDS[what][recipe.kind], least)
        is_least = recipe.kind != "easybuild"
        if number(said) < number(least) or is_least and said != least:
            yield f"needs {what} {said}, the build {least}"
    for name, value in recipe.options.items():
        if not build.allows(name, value):
            yield f"no option -D{name}={value}"
    for name in sorted(build.open - set(recipe.options)):
        yield f"lets -D{name} follow from what the machine has"
    for name in ("tests", "examples"):
        if recipe.options.get(name) != "false":
            yield f"builds the {name}"


def faults_of_debian(build):
    """What else has the soname in its name."""
    package = f"lib{build.name}{build.soversion}"
    symbols = f"debian/{package}.symbols"
    if f"\nPackage: {package}\n" not in read("debian/control"):
        yield f"no package {package}"
    if not (ROOT / symbols).exists() or \
            f"EVENKEEL_{build.soversion} " not in read(symbols):
        yield f"no {symbols} with EVENKEEL_{build.soversion}"
    if not (ROOT / f"debian/{package}.install").exists():
        yield f"no debian/{package}.install"


def main():
    build = Build()
    recipes = [debian(), spack(), easybuild(), conda()]
    faults = [f"{recipe.kind}: {fault}" for recipe in recipes
              for fault in faults_of(recipe, build)]
    faults += [f"debian: {fault}" for fault in faults_of_debian(build)]
    for what in ("version", "license"):
        if build.cited[what] != getattr(build, what):
            faults.append(f"CITATION.cff: another {what}")
    print("\n".join(faults))
    print(f"{len(recipes)} recipes of {build.name} {build.version}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
