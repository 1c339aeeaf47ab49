import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { compile, type Mode, type Value } from '../../src/events/cesql/cesql.ts';

/** The official conformance tests of CESQL 1.0. `cesql-tck/README.md` says where they come from. */
const folder = join(import.meta.dirname, 'cesql-tck');

interface Case {
  suite: string;
  name: string;
  expression: string;
  result: Value | undefined;
  error: string | undefined;
  event: Record<string, unknown>;
}

const anyEvent = { specversion: '1.0', id: 'any', source: 'http://localhost/any', type: 'any.type' };

/**
 * Section 3.7 of the specification demands the cast of integers to Boolean, and the case `BOOL(100)` has it, so that
 * `NOT 10` is false without an error. The SDKs for Go and Java answer the same.
 */
const overrides: Readonly<Record<string, Pick<Case, 'result' | 'error'>>> = {
  'Not operator: Invalid int cast': { result: false, error: undefined },
};

function casesOf(file: string): Case[] {
  // The core schema leaves times as texts. Expressions such as TRUE and 0 are taken as they are written.
  const document = parseDocument(readFileSync(join(folder, file), 'utf8'), { schema: 'core' });
  const tests = document.get('tests');
  assert.ok(isSeq(tests), file);
  return tests.items.map((item) => {
    assert.ok(isMap(item), file);
    return caseOf(String(document.get('name')), item);
  });
}

function caseOf(suite: string, item: YAMLMap): Case {
  const node = item.get('expression', true);
  assert.ok(isScalar(node));
  const { error, event, eventOverrides, name, result } = item.toJSON();
  const expression = typeof node.value === 'string' ? node.value : String(node.source);
  return { suite, name, expression, result, error, event: { ...(event ?? anyEvent), ...eventOverrides } };
}

/** What came out, in the words of the tests. */
function outcomeOf({ event, expression }: Case, mode: Mode) {
  const compiled = compile(expression);
  if (!compiled.ok) return { value: undefined, errors: [compiled.error.kind], matches: false };
  const { errors, value } = compiled.expression.evaluate(event, mode);
  const matches = compiled.expression.matches(event);
  return { value, errors: errors.map(({ kind }) => kind), matches };
}

const cases = globSync('*.yaml', { cwd: folder }).sort().flatMap(casesOf);
const titleOf = ({ name, suite }: Case): string => `${suite}: ${name}`;

describe('CESQL and its official conformance tests', () => {
  it('knows all of them', () => {
    assert.equal(cases.length, 275);
    const titles = new Set(cases.map(titleOf));
    assert.deepEqual(
      Object.keys(overrides).filter((title) => !titles.has(title)),
      [],
    );
  });

  for (const each of cases) {
    const override = overrides[titleOf(each)];
    const title = `${titleOf(each)} ${override === undefined ? '' : '(overridden)'}`;
    it(`${title}: ${each.expression}`, () => {
      const { error, result } = override ?? each;
      const { errors, matches, value } = outcomeOf(each, 'complete');
      assert.deepEqual(errors, error === undefined ? [] : [error]);
      // An expression that does not parse has no value, whatever a case says beside.
      if (error !== 'parse') assert.equal(value, result);
      assert.equal(matches, error === undefined && result === true);
    });
  }

  it('answers the same in fail-fast mode, but for values beside an error', () => {
    for (const each of cases) {
      const complete = outcomeOf(each, 'complete');
      const failFast = outcomeOf(each, 'fail-fast');
      assert.deepEqual(failFast.errors, complete.errors.slice(0, 1), titleOf(each));
      if (complete.errors.length === 0) assert.equal(failFast.value, complete.value, titleOf(each));
    }
  });
});
