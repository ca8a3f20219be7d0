#!/bin/bash
# Make the outputs in this folder again: run each program on a few tests that pass, fail, throw and are skipped.
# TOOLS holds `js`, with jest, vitest and mocha installed, `pv`, a Python environment with sympy, and a Maven `pom.xml`.
: "${TOOLS:?}"
here=$PWD
export PATH=$TOOLS/js/node_modules/.bin:$PATH NODE_PATH=$TOOLS/js/node_modules NO_COLOR=1 LC_ALL=C.UTF-8
cd "$(mktemp -d)" || exit 1
keep() { name=$1; shift; "$@" > "$here/$name" 2>&1; true; }

mkdir js; cd js; echo '{}' > package.json; mkdir t
body="
describe('money', () => {
  it('adds numbers', () => {});
  it('throws an error on a bad key', () => {});
  describe('rounding', () => {
    it('rounds half up', () => { expect(3).toBe(4); });
    it.skip('rounds down', () => {});
  });
});
describe('tax', () => {
  it('adds numbers', () => { throw new Error('no rate'); });
});
"
echo "$body" > t/money.test.js; echo "it('stands alone', () => {});" > t/one.test.js
echo "require('./gone'); it('is never run', () => {});" > t/broken.test.js
keep jest.txt jest
keep jest-verbose.txt jest --verbose
keep jest.json jest --json
keep vitest.txt true
mkdir v; cd v; for f in money one; do (echo "import { describe, it, expect } from 'vitest';"; cat ../t/$f.test.js) > $f.test.mjs; done
keep vitest.txt vitest run
keep vitest-verbose.txt vitest run --reporter verbose
keep vitest.json vitest run --reporter json
cd ..; mkdir m; (echo "const expect = (a) => ({ toBe: (b) => require('assert').strictEqual(a, b) });"; cat t/money.test.js) > m/money.js; cp t/one.test.js m/one.js
keep mocha.txt mocha m
keep mocha-dot.txt mocha -R dot m
keep mocha-list.txt mocha -R list m
keep mocha.json mocha -R json m
keep mocha-tap.txt mocha -R tap m
(echo "const { describe, it } = require('node:test');"; cat m/money.js) > m/node.js
keep node-spec.txt node --test --test-reporter spec m/node.js
keep node-tap.txt node --test --test-reporter tap m/node.js
cd ..

mkdir mvn; cd mvn; cp $TOOLS/pom.xml .; mkdir -p src/test/java/org/acme
cat > src/test/java/org/acme/MoneyTest.java <<'X'
package org.acme;
import org.junit.jupiter.api.*;
public class MoneyTest {
    @Test public void adds() {}
    @Test public void rounds() { Assertions.assertEquals(4, 3); }
    @Test public void parses() { Integer.parseInt("x"); }
    @Test @Disabled public void waits() {}
}
X
sed 's/MoneyTest/TaxTest/' src/test/java/org/acme/MoneyTest.java | grep -v -E 'rounds|parses|waits' > src/test/java/org/acme/TaxTest.java
keep maven.txt mvn -o -B test
cd ..

mkdir ct; cd ct
cat > CMakeLists.txt <<'X'
cmake_minimum_required(VERSION 3.10)
project(t C)
enable_testing()
add_test(NAME reads COMMAND true)
add_test(NAME writes COMMAND false)
add_test(NAME waits COMMAND sleep 9)
set_tests_properties(waits PROPERTIES TIMEOUT 1)
add_executable(a a.c)
add_test(NAME crashes COMMAND a)
add_test(NAME gone COMMAND no-such-program)
add_test(NAME later COMMAND true)
set_tests_properties(later PROPERTIES DISABLED TRUE)
X
echo 'int main(void) { volatile int *p = 0; return *p; }' > a.c; cmake . > /dev/null; make > /dev/null
keep ctest.txt ctest
keep ctest-verbose.txt ctest -V
keep ctest-failure.txt ctest --output-on-failure
cd ..

mkdir gt; cd gt
cat > t.cc <<'X'
#include <gtest/gtest.h>
TEST(Money, Adds) { EXPECT_EQ(4, 2 + 2); }
TEST(Money, Rounds) { EXPECT_EQ(4, 3); }
TEST(Money, Waits) { GTEST_SKIP() << "later"; }
class Tax : public testing::TestWithParam<int> {};
TEST_P(Tax, IsPositive) { EXPECT_GT(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(All, Tax, testing::Values(1, -1));
X
g++ t.cc -lgtest -lgtest_main -pthread -o t
keep gtest.txt ./t
cd ..

mkdir php; cd php; mkdir tests
cat > tests/MoneyTest.php <<'X'
<?php
use PHPUnit\Framework\TestCase;
final class MoneyTest extends TestCase {
  public function testAdds(): void { $this->assertTrue(true); }
  public function testRoundsHalfUp(): void { $this->assertSame(4, 3); }
  public function testParses(): void { throw new RuntimeException('no number'); }
  public function testWaits(): void { $this->markTestSkipped('later'); }
  /** @dataProvider rates */
  public function testRate(int $n): void { $this->assertGreaterThan(0, $n); }
  public function rates(): array { return [[1], 'none' => [0]]; }
}
X
keep phpunit.txt phpunit tests
keep phpunit-testdox.txt phpunit --testdox tests
cd ..

mkdir rb; cd rb; mkdir spec
cat > mini.rb <<'X'
require 'minitest/autorun'
class TestMoney < Minitest::Test
  def test_adds; assert true; end
  def test_rounds; assert_equal 4, 3; end
  def test_parses; Integer('x'); end
  def test_waits; skip 'later'; end
end
X
sed "s/minitest.autorun/test\/unit/; s/Minitest::Test/Test::Unit::TestCase/; s/skip 'later'/omit 'later'/" mini.rb > unit.rb
keep minitest.txt ruby mini.rb
keep minitest-verbose.txt ruby mini.rb -v
keep test-unit.txt ruby unit.rb
keep test-unit-verbose.txt ruby unit.rb -v
cat > spec/money_spec.rb <<'X'
describe 'Money' do
  it('adds') { }
  it('raises an error on nil') { }
  context 'when rounding' do
    it('rounds half up') { expect(3).to eq(4) }
    it('parses') { Integer('x') }
    xit('waits') { }
  end
end
X
keep rspec.txt rspec
keep rspec-documentation.txt rspec -f d
keep rspec.json rspec -f json
cd ..

mkdir pl; cd pl; mkdir t
cat > t/money.t <<'X'
use Test::More tests => 5;
ok(1, 'reads');
is(3, 4, 'rounds');
SKIP: { skip 'later', 1; }
TODO: { local $TODO = 'one day'; ok(0, 'parses'); }
ok(1, 'exits with an error when the file is missing');
X
echo "use Test::More tests => 1; ok(1, 'reads');" > t/tax.t
keep prove.txt prove
keep prove-verbose.txt prove -v
cd ..

mkdir am; cd am
printf 'AC_INIT([p],[1])\nAM_INIT_AUTOMAKE([foreign])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' > configure.ac
echo 'TESTS = reads.sh rounds.sh waits.sh' > Makefile.am; echo 'XFAIL_TESTS =' >> Makefile.am
printf '#!/bin/sh\nexit 0\n' > reads.sh; printf '#!/bin/sh\necho 3 is not 4\nexit 1\n' > rounds.sh; printf '#!/bin/sh\nexit 77\n' > waits.sh; chmod +x *.sh
(aclocal && automake -a --foreign && autoconf && ./configure) > /dev/null 2>&1
keep automake.txt make check
cd ..

mkdir an; cd an; mkdir src
cat > src/MoneyTest.java <<'X'
import org.junit.*;
public class MoneyTest {
    @Test public void adds() {}
    @Test public void rounds() { Assert.assertEquals(4, 3); }
    @Test public void parses() { Integer.parseInt("x"); }
    @Ignore @Test public void waits() {}
}
X
cat > build.xml <<'X'
<project name="p" default="test">
  <path id="cp"><fileset dir="/usr/share/java" includes="junit4.jar hamcrest-core.jar"/><pathelement location="out"/></path>
  <target name="test"><mkdir dir="out"/><javac srcdir="src" destdir="out" includeantruntime="false" classpathref="cp"/>
    <junit printsummary="on" haltonfailure="false" fork="true"><classpath refid="cp"/><formatter type="plain" usefile="false"/><test name="MoneyTest"/></junit></target>
</project>
X
keep ant.txt ant
classes=out:/usr/share/java/junit4.jar:/usr/share/java/hamcrest-core.jar
keep junit-core.txt java -cp "$classes" org.junit.runner.JUnitCore MoneyTest
cd ..

mkdir gr; cd gr; mkdir -p src/test/java; cp ../an/src/MoneyTest.java src/test/java/
cat > build.gradle <<'X'
apply plugin: 'java'
dependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }
test { testLogging { events 'passed', 'skipped', 'failed' } }
X
keep gradle.txt gradle --offline --no-daemon --console=plain test
cd ..

# sympy's own runner finds tests in the installed package only: one of its files gets two that fail, and is put back.
file=$("$TOOLS/pv/bin/python" -c 'import sympy; print(sympy.__path__[0])')/core/tests/test_cache.py
cp "$file" kept.py
printf '\n\ndef test_zz_raises():\n    nothing\n\n\ndef test_zz_fails():\n    assert 1 == 2\n' >> "$file"
keep sympy.txt "$TOOLS/pv/bin/python" -c \
    "from sympy.testing.runtests import _test; _test('test_singleton', 'core/tests/test_cache', verbose=True, colors=False)"
cp kept.py "$file"
