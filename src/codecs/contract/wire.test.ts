import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codecs } from '../index.ts';

const root = join(import.meta.dirname, '..');
const folders = [
  'openai-shared',
  ...codecs.flatMap(({ conversation, format }) => (conversation === null ? [] : [format])),
];

/** What a file has of `pattern`, with the number of its line. */
function linesWith(path: string, pattern: RegExp): string[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  return lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
}

/** `body['max_tokens']`, and not `Part['type']`, which is a type, or a list. */
const lookup = /(?:\b[a-z]\w*|[)\]?!])(?:\?\.)?\['\w+'\]/;
/** `({ max_tokens }: JsonObject)` */
const untyped = /\}: (?:JsonObject|Record<string, unknown>)\b/;

describe('the fields of a wire format', () => {
  for (const folder of folders) {
    it(`of ${folder} are read by names that its wire types have`, () => {
      const files = globSync('**/*.ts', { cwd: join(root, folder) });
      assert.ok(existsSync(join(root, folder, 'wire.ts')));
      const unchecked = files
        .filter((file) => !file.endsWith('.test.ts'))
        .flatMap((file) => [lookup, untyped].flatMap((pattern) => linesWith(join(folder, file), pattern)));
      assert.deepEqual(unchecked, []);
    });

    it(`of ${folder} are optional and unknown in its wire types`, () => {
      const fields = linesWith(join(folder, 'wire.ts'), /^ {2}['a-z_]/);
      assert.ok(fields.length > 0);
      assert.deepEqual(
        fields.filter((line) => !/ '?[@\w.]+'?\?: unknown;$/.test(line)),
        [],
      );
    });
  }

  it('are distinguished from lists and types', () => {
    for (const read of ["body['a']", "body?.['a']", "bodyOf(x)['a']", "list[0]?.['a']"])
      assert.match(read, lookup);
    for (const other of ["Part['type']", "fields(['a'])", "readonly ['a']: 1", "new Set(['a'])"])
      assert.doesNotMatch(other, lookup);
  });
});
