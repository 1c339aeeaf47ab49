import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ConfigText,
  envFiles,
  jsoncFiles,
  jsonFiles,
  tomlFiles,
  yamlFiles,
} from '../../../test/support/agents/config-files.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import type { FileFormat } from './format.ts';
import { formats } from './formats.ts';
import type { Path } from './path.ts';
import type { Json } from './value.ts';

interface OurEntry {
  path: Path;
  value: Json;
}

const nested: readonly OurEntry[] = [
  { path: ['ours'], value: 'a value' },
  { path: ['env', 'OUR_URL'], value: 'http://127.0.0.1:20128' },
  { path: ['our_group', 'gateway', 'base_url'], value: 'http://127.0.0.1:20128/v1' },
  { path: ['our_group', 'gateway', 'limit'], value: 5 },
];
const inList: readonly OurEntry[] = [
  { path: ['list', { key: 'id', equals: 'ours' }, 'url'], value: 'http://127.0.0.1:20128/v1' },
  { path: ['list', { key: 'id', equals: 'ours' }, 'model'], value: 'auto' },
];

const cases: readonly {
  name: keyof typeof formats;
  files: fc.Arbitrary<ConfigText>;
  entries: readonly OurEntry[];
}[] = [
  { name: 'json', files: jsonFiles, entries: [...nested, ...inList] },
  { name: 'jsonc', files: jsoncFiles, entries: [...nested, ...inList] },
  { name: 'yaml', files: yamlFiles, entries: [...nested, ...inList] },
  { name: 'toml', files: tomlFiles, entries: nested },
  { name: 'env', files: envFiles, entries: [{ path: ['OUR_URL'], value: 'http://127.0.0.1:20128' }] },
];

const setAll = (format: FileFormat, text: string, entries: readonly OurEntry[]) =>
  entries.reduce((before, { path, value }) => format.set(before, path, value), text);

/** Lines without the comma at their end, which a further entry needs, and without the brackets of an empty group. */
const bare = (text: string) =>
  text
    .replaceAll('\r', '')
    .split('\n')
    .map((line) => line.replace(/,(?=\s*($|\/\/|\/\*))/, '').trimEnd())
    .filter((line) => line !== '');

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const line of whole) if (line === part[at]) at += 1;
  return at === part.length;
}

describe('editing configuration files', () => {
  for (const { entries, files, name } of cases) {
    const format = formats[name];
    const check = (property: (file: ConfigText) => void) =>
      fc.assert(fc.property(files, property), { numRuns: 200 });

    it(`${name}: setting our entries changes nothing else`, () => {
      check(({ eol, text }) => {
        const before = format.read(text);
        assert.ok(before.ok, text);
        const after = setAll(format, text, entries);
        const restored = format.read(
          entries.reduceRight((rest, { path }) => format.remove(rest, path), after),
        );
        assert.ok(restored.ok);
        for (const [key, value] of Object.entries(before.value)) {
          if (!['env', 'list'].includes(key)) assert.deepEqual(restored.value[key], value);
        }
        assert.equal(after.startsWith('\ufeff'), text.startsWith('\ufeff'), 'the byte order mark');
        if (text.includes('\n')) {
          assert.equal(after.replaceAll(eol, '').includes('\n'), false, 'line ends');
          assert.equal(after.endsWith('\n'), text.endsWith('\n'), 'the final line end');
        }
        const inRows = /[[{].*[\]}]/.test(text);
        if (!inRows) assert.ok(isSubsequence(bare(text), bare(after)), `${text}\n-----\n${after}`);
      });
    });

    it(`${name}: setting twice is setting once`, () => {
      check(({ text }) => {
        const once = setAll(format, text, entries);
        assert.equal(setAll(format, once, entries), once);
      });
    });

    it(`${name}: a new entry of a group that has others is removed without a trace`, () => {
      check(({ text }) => {
        const read = format.read(text);
        const path: Path = entries[0]?.path ?? [];
        if (!read.ok || Object.keys(read.value).length === 0) return;
        const after = format.remove(format.set(text, path, 'a value'), path);
        const same = name === 'toml' ? [bare(after), bare(text)] : [after, text];
        assert.deepEqual(same[0], same[1]);
      });
    });

    it(`${name}: a changed value keeps the rest of its line`, () => {
      check(({ text }) => {
        const path: Path = entries[0]?.path ?? [];
        const one = format.set(text, path, 'one');
        const two = format.set(one, path, 'two');
        assert.equal(format.set(two, path, 'one'), one);
      });
    });
  }

  it('names the place where a file cannot be read', () => {
    assert.deepEqual(formats.json.read('{\n  "a": 1,\n  b\n}'), {
      ok: false,
      problem: 'It is not valid JSON: invalid symbol',
      line: 3,
      column: 3,
    });
    for (const [name, text] of [
      ['json', '{ // no comment here\n}'],
      ['jsonc', '{ "a": '],
      ['yaml', 'a: [1'],
      ['yaml', 'a: 1\n---\nb: 2\n'],
      ['toml', 'a = \n'],
      ['toml', 'a = 1\na = 2\n'],
      ['env', 'A=1\nnonsense\n'],
    ] as const) {
      const read = formats[name].read(text);
      assert.equal(read.ok, false, `${name}: ${text}`);
      assert.throws(() => formats[name].set(text, ['ours'], 'x'), { name: 'FileEditError' });
    }
  });

  it('refuses to replace another value by a group', () => {
    for (const name of ['json', 'yaml', 'toml'] as const) {
      const text = { json: '{"env": "text"}', yaml: 'env: text\n', toml: 'env = "text"\n' }[name];
      assert.throws(() => formats[name].set(text, ['env', 'A'], 'x'), /env is text/);
    }
  });
});
