"""Where a cause can show: each kind of recipe has functions from a few lines of code to shell scripts."""

import hashlib
import textwrap
from collections.abc import Callable, Iterable

Case = tuple[str, str]


def _word(cause: str, how: str) -> str:
    words = ("money", "orders", "report", "parse", "stock", "tables", "grid", "users")
    return words[hashlib.sha256(f"{cause}+{how}".encode()).digest()[0] % len(words)]


def _file(name: str, text: str) -> str:
    return f"mkdir -p $(dirname {name}); cat > {name} <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"


def _named(cause: str, templates: Iterable[tuple[str, Callable[[str], str]]]) -> list[Case]:
    return [(how, make(_word(cause, how))) for how, make in templates]


def py(cause: str, body: str) -> list[Case]:
    """A function's body in Python."""
    code = textwrap.indent(body.rstrip(), "    ")

    def module(word: str) -> str:
        return _file(f"{word}.py", f"import sys\n\n\ndef run_{word}():\n{code}\n")

    def test(word: str) -> str:
        return module(word) + _file(f"test_{word}.py", f"import {word}\n\n\ndef test_ok():\n    pass\n\n\n"
                                    f"def test_{word}():\n    {word}.run_{word}()\n")  # fmt: skip

    def case(word: str) -> str:
        return _file(f"test_{word}.py", f"import unittest\n\n\nclass Test{word.title()}(unittest.TestCase):\n"
                     f"    def test_{word}(self):\n{textwrap.indent(code, '    ')}\n")  # fmt: skip

    def script(word: str) -> str:
        return module(word) + f"echo '\nrun_{word}()' >> {word}.py\n"

    return _named(cause, [
        ("script", lambda w: script(w) + f"python3 {w}.py"),
        ("pytest", lambda w: test(w) + "pytest"),
        ("unittest", lambda w: case(w) + "python3 -m unittest -v"),
        ("pytest short, traced shell", lambda w: test(w) + _file("run.sh", "export A=1\npytest --tb=short -rA\n"
                                                                     "echo done\nexit 1") + "bash -x run.sh"),
        ("make", lambda w: script(w) + _file("Makefile", f"check:\n\t@echo checking\n\tpython3 {w}.py\n") + "make check"),
        ("pytest behind compose", lambda w: test(w) + "set -o pipefail; pytest -v | sed 's/^/tests-1  | /'"),
        ("pytest native, time stamps", lambda w: test(w) + "set -o pipefail; pytest --tb=native -q | "
                                       "sed 's/^/2026-03-04T05:06:07.1234567Z /'"),
    ])  # fmt: skip


def syntax(cause: str, body: str) -> list[Case]:
    """A Python module that is no Python."""
    return _named(cause, [
        ("script", lambda w: _file(f"{w}.py", body) + f"python3 {w}.py"),
        ("pytest", lambda w: _file(f"{w}.py", body) + _file(f"test_{w}.py", f"import {w}\n") + "pytest"),
        ("unittest", lambda w: _file(f"{w}.py", body) + _file(f"test_{w}.py", f"import {w}\n") + "python3 -m unittest"),
        ("compiled", lambda w: _file(f"{w}.py", f"# {w}\n{body}") + f"python3 -m py_compile {w}.py"),
        ("the test itself", lambda w: _file(f"test_{w}.py", body) + "pytest -q"),
    ])  # fmt: skip


def js(cause: str, body: str) -> list[Case]:
    """Statements in JavaScript."""
    code = textwrap.indent(body.rstrip(), "  ")

    def test(w: str) -> str:
        return f"describe('{w}', () => {{\n it('works', () => {{}});\n it('reads {w}', () => {{\n{code}\n }});\n}});\n"

    empty = "echo '{}' > package.json\n"
    found: list[tuple[str, Callable[[str], str]]] = [
        ("node", lambda w: _file(f"{w}.js", body) + f"node {w}.js"),
        ("node in a function", lambda w: _file(f"src/{w}.js", f"function {w}() {{\n{code}\n}}\n{w}();\n") + f"node src/{w}.js"),
        ("jest", lambda w: empty + _file(f"{w}.test.js", test(w)) + "jest"),
        ("jest verbose", lambda w: empty + _file(f"t/{w}.test.js", test(w)) + "jest --verbose"),
        ("mocha", lambda w: _file(f"test/{w}.js", test(w)) + "mocha"),
        ("node --test", lambda w: _file(f"{w}.test.js", f"const {{ describe, it }} = require('node:test');\n{test(w)}") + "node --test"),
        ("promise", lambda w: _file(f"{w}.js", f"async function {w}() {{\n{code}\n}}\n{w}();\n") + f"node {w}.js"),
        ("npm test", lambda w: _file("package.json", f'{{"name": "{w}", "version": "1.2.3", "scripts": {{"test": "node {w}.js"}}}}')
                     + _file(f"{w}.js", body) + "npm test"),
    ]  # fmt: skip
    if "require" not in body:
        found.append(
            (
                "vitest",
                lambda w: _file(f"{w}.test.mjs", f"import {{ describe, it }} from 'vitest';\n{test(w)}") + "vitest run",
            )
        )
    return _named(cause, found)


def c(cause: str, body: str) -> list[Case]:
    """A program in C."""
    lib = " -lgridlib" if "library" in cause else ""
    cmake = "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p {w}.c)\n" + (
        "target_link_libraries(p gridlib)\n" if lib else ""
    )
    return _named(cause, [
        ("gcc", lambda w: _file(f"{w}.c", body) + f"gcc {w}.c -o {w}{lib}"),
        ("make", lambda w: _file(f"src/{w}.c", body) + _file("Makefile", f"{w}: src/{w}.c\n\tgcc -O2 -Wall -o {w} src/{w}.c{lib}\n") + "make"),
        ("cmake", lambda w: _file(f"{w}.c", body) + _file("CMakeLists.txt", cmake.replace("{w}", w)) + "cmake . && make"),
        ("traced shell", lambda w: _file(f"{w}.c", body) + _file("run.sh", f"set -e\ngcc -o {w} {w}.c{lib}\n./{w}") + "bash -x run.sh"),
        ("python", lambda w: _file(f"{w}.c", body) + f"python3 -c \"import subprocess; subprocess.run('gcc {w}.c{lib}', shell=True, check=True)\""),
    ])  # fmt: skip


def rust(cause: str, body: str) -> list[Case]:
    """A function's body in Rust."""
    code = textwrap.indent(body.rstrip(), "    ")
    start = "cargo init -q --vcs none --name {w} . ; "
    test = f"#[cfg(test)]\nmod tests {{\n    #[test]\n    fn is_ok() {{}}\n\n    #[test]\n    fn works() {{\n{code}\n    }}\n}}\n"
    return _named(cause, [
        ("rustc", lambda w: _file(f"{w}.rs", f"fn main() {{\n{code}\n}}\n") + f"rustc {w}.rs && ./{w}"),
        ("cargo run", lambda w: start.replace("{w}", w) + _file("src/main.rs", f"fn main() {{\n{code}\n}}\n") + "cargo run"),
        ("cargo test", lambda w: start.replace("{w}", w) + _file("src/main.rs", f"fn main() {{}}\n{test}") + "cargo test"),
        ("cargo test quiet", lambda w: start.replace("{w}", w) + _file("src/main.rs", f"fn main() {{}}\n{test}")
                             + "cargo test -q 2>&1"),
        ("make, backtrace", lambda w: _file(f"{w}.rs", f"fn {w}() {{\n{code}\n}}\nfn main() {{ {w}() }}\n")
                            + _file("Makefile", f"run:\n\trustc -g {w}.rs\n\tRUST_BACKTRACE=1 ./{w}\n") + "make"),
    ])  # fmt: skip


def go(cause: str, body: str) -> list[Case]:
    """A function's body in Go."""
    code = textwrap.indent(body.rstrip(), "\t")
    mod = _file("go.mod", "module example.com/m\n\ngo 1.19\n")
    main = f"package main\n\nfunc main() {{\n{code}\n}}\n"
    test = f'package m\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {{}}\n\nfunc TestWorks(t *testing.T) {{\n{code}\n}}\n'
    return _named(cause, [
        ("go run", lambda w: _file(f"{w}.go", main) + f"go run {w}.go"),
        ("go build", lambda w: mod + _file(f"{w}.go", main) + "go build -o prog . && ./prog"),
        ("go test", lambda w: mod + _file(f"{w}_test.go", test) + "go test ./..."),
        ("go test verbose", lambda w: mod + _file(f"{w}/{w}_test.go", test) + "go test -v ./..."),
        ("make", lambda w: _file(f"{w}.go", main) + _file("Makefile", f"run:\n\tgo run {w}.go\n") + "make"),
    ])  # fmt: skip


def gotest(cause: str, body: str) -> list[Case]:
    """What a Go test says."""
    mod = _file("go.mod", "module example.com/m\n\ngo 1.19\n")

    def test(w: str, code: str) -> str:
        name = w.title()
        return mod + _file(f"{w}_test.go", f"package m\n\nimport \"testing\"\n\nfunc TestOk(t *testing.T) {{ t.Log(\"no error\") }}\n\n"
                           f"func Test{name}(t *testing.T) {{\n{code}\n}}\n\nfunc TestZ(t *testing.T) {{ t.Log(\"fine\") }}\n")  # fmt: skip

    sub = f't.Run("a", func(t *testing.T) {{ {body.strip()} }})'
    return _named(cause, [
        ("go test", lambda w: test(w, body) + "go test ./..."),
        ("go test verbose", lambda w: test(w, body) + "go test -v ./..."),
        ("go test json", lambda w: test(w, body) + "go test -json ./..."),
        ("go subtest", lambda w: test(w, sub) + "go test -v ./..."),
        ("go under make", lambda w: test(w, body) + _file("Makefile", "test:\n\tgo test ./...\n") + "make test"),
    ])  # fmt: skip


_JARS = "/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar"


def _junit(w: str, body: str) -> str:
    name = f"{w.title()}Test"
    return _file(f"{name}.java", f"import org.junit.Test;\npublic class {name} {{\n    @Test public void ok() {{}}\n"
                 f"    @Test public void works() throws Exception {{\n        {body.strip()}\n    }}\n}}\n")  # fmt: skip


def java(cause: str, body: str) -> list[Case]:
    """Statements in Java."""

    def main(name: str) -> str:
        return _file(
            f"{name}.java",
            f"public class {name} {{\n    public static void main(String[] args) throws Exception {{\n        {body.strip()}\n    }}\n}}\n",
        )

    return _named(cause, [
        ("java", lambda w: main(w.title()) + f"java {w.title()}.java"),
        ("javac", lambda w: main(w.title()) + f"javac {w.title()}.java && java {w.title()}"),
        ("junit", lambda w: _junit(w, body) + f"javac -cp {_JARS}:. {w.title()}Test.java && java -cp {_JARS}:. org.junit.runner.JUnitCore {w.title()}Test"),
        ("make", lambda w: main(w.title()) + _file("Makefile", f"run:\n\tjavac {w.title()}.java\n\tjava {w.title()}\n") + "make"),
        ("maven", lambda w: _maven(w, body)),
    ])  # fmt: skip


def _maven(w: str, body: str) -> str:
    name = f"src/test/java/org/acme/{w.title()}Test.java"
    code = body.strip().replace(
        'assertTrue("stock was not reduced", false)', 'assertTrue(false, "stock was not reduced")'
    )
    code = code.replace("org.junit.Assert.", "org.junit.jupiter.api.Assertions.")
    return _file(name, f"package org.acme;\nimport org.junit.jupiter.api.Test;\npublic class {w.title()}Test {{\n    @Test public void ok() {{}}\n"
                 f"    @Test public void works() throws Exception {{\n        {code}\n    }}\n}}\n") + "cp $(dirname $JS)/pom.xml . && mvn -o -B test"  # fmt: skip


def junit(cause: str, body: str) -> list[Case]:
    """What a JUnit test says."""
    return [case for case in java(cause, body) if case[0] in {"junit", "maven"}] + _named(cause, [
        ("junit of two", lambda w: _junit(w, body) + _junit("extra", body) + f"javac -cp {_JARS}:. *.java && java -cp {_JARS}:. org.junit.runner.JUnitCore {w.title()}Test ExtraTest"),
        ("junit under make", lambda w: _junit(w, body) + _file("Makefile", f"test:\n\tjavac -cp {_JARS}:. {w.title()}Test.java\n\tjava -cp {_JARS}:. org.junit.runner.JUnitCore {w.title()}Test\n") + "make test"),
    ])  # fmt: skip


def ruby(cause: str, body: str) -> list[Case]:
    """Statements in Ruby."""
    return _named(cause, [
        ("ruby", lambda w: _file(f"{w}.rb", body) + f"ruby {w}.rb"),
        ("ruby in a method", lambda w: _file(f"{w}.rb", f"def {w}\n  {body.strip()}\nend\n{w}\n") + f"ruby {w}.rb"),
        ("rspec", lambda w: _file(f"spec/{w}_spec.rb", f"describe '{w}' do\n  it 'is ok' do\n  end\n  it 'works' do\n    {body.strip()}\n  end\nend\n") + "rspec"),
        ("minitest", lambda w: _file(f"{w}.rb", f"require 'minitest/autorun'\nclass T < Minitest::Test\n  def test_{w}\n    {body.strip()}\n  end\nend\n") + f"ruby {w}.rb"),
        ("test-unit", lambda w: _file(f"{w}.rb", f"require 'test/unit'\nclass T < Test::Unit::TestCase\n  def test_{w}\n    {body.strip()}\n  end\nend\n") + f"ruby {w}.rb"),
    ])  # fmt: skip


def rubytest(cause: str, body: str) -> list[Case]:
    """What a test in Ruby says, by framework."""
    said = dict(line.split(": ", 1) for line in body.strip().split("\n"))
    found = [*ruby(cause, said["rspec"])[2:3], *ruby(cause, said["minitest"])[3:]]
    return [*found, ("rspec documentation", found[0][1] + " -f d")]


def php(cause: str, body: str) -> list[Case]:
    """Statements in PHP."""
    return _named(cause, [
        ("php", lambda w: _file(f"{w}.php", f"<?php\n{body}") + f"php {w}.php"),
        ("php in a function", lambda w: _file(f"{w}.php", f"<?php\nfunction {w}() {{\n{body}}}\n{w}();\n") + f"php {w}.php"),
        *_phpunit(body),
    ])  # fmt: skip


def _phpunit(body: str) -> list[tuple[str, Callable[[str], str]]]:
    def test(w: str) -> str:
        return _file(f"tests/{w.title()}Test.php", f"<?php\nuse PHPUnit\\Framework\\TestCase;\nfinal class {w.title()}Test extends TestCase {{\n"
                     f"  public function testOk(): void {{ $this->assertTrue(true); }}\n  public function testWorks(): void {{\n    {body}  }}\n}}\n")  # fmt: skip

    return [
        ("phpunit", lambda w: test(w) + "phpunit tests"),
        ("phpunit testdox", lambda w: test(w) + "phpunit --testdox tests"),
        ("phpunit under make", lambda w: test(w) + _file("Makefile", "test:\n\tphpunit tests\n") + "make test"),
    ]


def phptest(cause: str, body: str) -> list[Case]:
    """What a PHPUnit test says."""
    return _named(
        cause, [*_phpunit(body), ("phpunit teamcity off", lambda w: _phpunit(body)[0][1](w) + " --stop-on-failure")]
    )


def perl(cause: str, body: str) -> list[Case]:
    """Statements in Perl."""
    return _named(cause, [
        ("perl", lambda w: _file(f"{w}.pl", f"use strict;\n{body}") + f"perl {w}.pl"),
        ("perl in a sub", lambda w: _file(f"{w}.pl", f"sub {w} {{\n{body}}}\n{w}();\n") + f"perl {w}.pl"),
        ("prove", lambda w: _file(f"t/{w}.t", f"use Test::More tests => 2;\nok(1, 'reads');\n{body}") + "prove"),
        ("make", lambda w: _file(f"{w}.pl", f"\n\n{body}") + _file("Makefile", f"run:\n\tperl {w}.pl\n") + "make"),
    ])  # fmt: skip


PLACES = {f.__name__: f for f in (py, syntax, js, c, rust, go, gotest, java, junit, ruby, rubytest, php, phptest, perl)}
