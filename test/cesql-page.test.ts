import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { builtinFunctions } from '../src/events/cesql/builtin-functions.ts';
import { compile, type Value } from '../src/events/cesql/cesql.ts';

/** docs/cesql.md says what the language does. */
const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/cesql.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'modelgate-cesql-page-'));

const section = (heading: string): string => {
  const part = page.split(/^## /m).find((text) => text.startsWith(heading));
  assert.ok(part !== undefined, `docs/cesql.md has no section "${heading}"`);
  return part;
};
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| (`.+?) \|/gm)].map(([, cell = '']) => cell);

describe('docs/cesql.md', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('has every function, and no other', () => {
    const documented = firstCells(section('The language'))
      .flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)\(/g)])
      .map(([, name = '']) => name);
    const existing = new Set(builtinFunctions.map(({ name }) => name));
    assert.deepEqual([...new Set(documented)].sort(), [...existing].sort());
  });

  it('has every warning, and no other', () => {
    const source = readFileSync(join(root, 'src/events/cesql/lint.ts'), 'utf8');
    const [, type = ''] = /export type WarningCode =([\s\S]+?)\n\n/.exec(source) ?? [];
    const existing = [...type.matchAll(/\| '([a-z-]+)'/g)].map(([, code = '']) => code);
    const documented = firstCells(section('Warnings')).map((cell) => cell.replaceAll('`', ''));
    assert.ok(existing.length > 5);
    assert.deepEqual(documented.sort(), existing.sort());
  });

  const values: readonly [quoted: string, value: Value][] = [
    ["missing != 'x'", false],
    ["NOT EXISTS missing OR missing != 'x'", true],
    ["'TRUE' = true", true],
    ["true = 'TRUE'", false],
    ["missing = 'x' OR TRUE", false],
    ["LEFT('abc', -1)", 'abc'],
    ["UPPER('ß')", 'SS'],
    ['EXISTS data', false],
    ['4-1', 3],
    ['NOT 10', false],
  ];
  for (const [text, value] of values) {
    it(`says what ${text} is`, () => {
      assert.ok(page.includes(`\`${text}\``), `docs/cesql.md does not have ${text}`);
      const compiled = compile(text);
      assert.ok(compiled.ok);
      const event = { specversion: '1.0', id: '1', source: '/a', type: 'b', data: 'c' };
      assert.equal(compiled.expression.evaluate(event).value, value);
    });
  }

  it('has warnings for what it shows as warned', () => {
    const examples: readonly [code: string, text: string][] = [
      ['not-precedence', "NOT type LIKE 'a%'"],
      ['always-fails', "id < 'abc'"],
      ['doubled-quote', "'it''s'"],
    ];
    for (const [code, text] of examples) {
      assert.ok(section('Warnings').includes(`\`${text}\``), text);
      const compiled = compile(text);
      assert.ok(compiled.ok);
      assert.ok(
        compiled.expression.warnings.some((warning) => warning.code === code),
        text,
      );
    }
  });

  const programs = [...page.matchAll(/^```js\n([\s\S]+?)^```/gm)].map(([, text = '']) => text);
  for (const [index, text] of programs.entries()) {
    it(`runs program ${index + 1}, with the results that it says`, () => {
      const library = pathToFileURL(join(root, 'src/events/cesql/cesql.ts')).href;
      const checked = text
        .replace("'modelgate/cesql'", `'${library}'`)
        .replace(/^(\S.*); \/\/ (.+)$/gm, 'assert.deepEqual($1, $2);');
      assert.notEqual(checked.indexOf('assert.'), -1, 'it says a result');
      const file = join(folder, `program-${index}.mjs`);
      writeFileSync(file, `import assert from 'node:assert/strict';\n${checked}`);
      const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
      assert.equal(status, 0, stderr);
    });
  }

  it('has three programs', () => assert.equal(programs.length, 3));
});
