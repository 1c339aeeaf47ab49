import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Path } from '../files/path.ts';
import { settingPath } from './setting-path.ts';

const quoted = (name: string) => `"${name.replace(/[\\"]/g, '\\$&')}"`;
const bare = /^[^."[\]=]+$/;

/** A path as people write it; names in quotes where they have to be. */
function written(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step !== 'string') return `[${step.key}=${step.equals}]`;
      return `${index === 0 ? '' : '.'}${bare.test(step) ? step : quoted(step)}`;
    })
    .join('');
}

const name = fc.string({ minLength: 1, maxLength: 12 });
const word = fc.stringMatching(/^[\w <>:/-]{1,12}$/);
const step = fc.oneof(name, fc.record({ key: word, equals: word }, { noNullPrototype: true }));

describe('the path of an entry on the command line', () => {
  it('is read as it was meant, whatever the names are', () => {
    fc.assert(
      fc.property(fc.tuple(name, fc.array(step, { maxLength: 5 })), ([head, rest]) => {
        assert.deepEqual(settingPath(written([head, ...rest])), [head, ...rest]);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws anything but a refusal', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        try {
          settingPath(text);
        } catch (error) {
          assert.match(String(error), /cannot be read from/);
        }
      }),
    );
    for (const text of ['.a', 'a..b', 'a.', 'a[b]', 'a[b=c', '"a', 'a"b"'])
      assert.throws(() => settingPath(text), { code: 'invalid_request', param: 'file' }, text);
  });
});
