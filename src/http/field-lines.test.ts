import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fieldName } from './field-lines.ts';

describe('the name of a header field', () => {
  it('does not keep the head in memory that contained it', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const read = (index: number) => {
      const head = Buffer.from(`x-a-name-in-a-long-head-${index}: ${'a'.repeat(1_000_000)}`).toString(
        'latin1',
      );
      return fieldName(head.slice(0, head.indexOf(':')));
    };
    collect();
    const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
    for (let index = 0; index < 50; index += 1) assert.equal(read(index), `x-a-name-in-a-long-head-${index}`);
    collect();
    const grown = process.memoryUsage().heapUsed + process.memoryUsage().external - before;
    assert.ok(grown < 10_000_000, `${grown} bytes more`);
  });

  it('is a token in lower case, whatever was read before', () => {
    assert.equal(fieldName('Content-Type'), 'content-type');
    for (let index = 0; index < 2000; index += 1)
      assert.equal(fieldName(`X-Name-${index}`), `x-name-${index}`);
    assert.equal(fieldName('Content-Type'), 'content-type');
    for (const none of ['', 'a b', 'a:', 'é', 'a\n', 'a\0']) assert.equal(fieldName(none), null);
  });
});
