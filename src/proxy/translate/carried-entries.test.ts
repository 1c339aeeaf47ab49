import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { carryEntries, readEntries } from './carried-entries.ts';

const piece = fc.oneof(
  fc.constantFrom(
    'a',
    '"',
    '\\',
    '\n',
    ' ',
    '\u0001',
    '\u000b',
    '\u001b',
    '"text":"',
    '\ud800',
    'é',
    '東',
    '😀',
    '/',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const text = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.nat(160))
  .map(([pieces, times]) => pieces.join('').repeat(1 + times));
const entry = fc.record({
  role: fc.constant('user'),
  content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 2 })),
  output: text,
});

/** The entries behind something else, as they stand in a body, and where they do. */
function placed(json: string): { body: Buffer; start: number; end: number } {
  const [before, list, after] = ['{"messages":[', json.slice(1, -1), ']}'].map((part) => Buffer.from(part));
  const body = Buffer.concat([before ?? Buffer.of(), list ?? Buffer.of(), after ?? Buffer.of()]);
  return { body, start: before?.length ?? 0, end: body.length - (after?.length ?? 0) };
}

describe('entries whose long texts are carried', () => {
  it('are written as if they had been read completely, also in JSON within JSON', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 3 }), fc.boolean(), fc.nat(2), (entries, odd, depth) => {
        const plain = JSON.stringify(entries);
        const json = odd ? plain.replaceAll('a', '\\u0061').replaceAll('/', '\\/') : plain;
        const { body, end, start } = placed(json);
        const whole = readEntries(body, start, end);
        const carried = carryEntries(body, start, end, false);
        assert.deepEqual(whole?.entries, JSON.parse(json));
        if (carried === null) return;
        assert.notDeepEqual(carried.entries, whole?.entries);
        let [lean, full]: unknown[] = [carried.entries, whole?.entries];
        for (let level = 0; level < depth; level += 1) {
          lean = { input: `\\${JSON.stringify(lean)}` };
          full = { input: `\\${JSON.stringify(full)}` };
        }
        assert.equal(carried.isWritten(), false);
        const written = carried.write(JSON.stringify(lean));
        assert.equal(written?.toString(), JSON.stringify(full));
        assert.equal(carried.isWritten(), true);
      }),
      { numRuns: 500 },
    );
  });

  const long = 'x'.repeat(400);

  it('begin and end as their texts do, because codecs look at both ends', () => {
    const { body, end, start } = placed(JSON.stringify([{ content: `[tool error] ${long} \n\t ` }]));
    const [one] = (carryEntries(body, start, end, false)?.entries ?? []) as { content: string }[];
    assert.ok(one !== undefined && one.content.length < 100);
    assert.ok(one.content.startsWith('[tool error] '));
    assert.ok(one.content.endsWith(' \n\t ') && one.content.trimEnd() !== one.content);
  });

  it('are read completely if nothing is long, or if a text would be written differently', () => {
    const broken = Buffer.concat([
      Buffer.from('{"content":"'),
      Buffer.from([0xff]),
      Buffer.from(`${long}"}`),
    ]);
    assert.equal(carryEntries(broken, 0, broken.length, false), null);
    for (const json of [
      '',
      '{"content":"short"}',
      `{"content":"\\u0061${long}"}`,
      `{"content":"\\/${long}"}`,
    ]) {
      const body = Buffer.from(json);
      assert.equal(carryEntries(body, 0, body.length, false), null, json.slice(0, 30));
    }
  });

  it('include what the tools of agents write into files', () => {
    for (const name of ['old_string', 'new_str', 'new_text', 'file_text']) {
      const entries = [{ args: { path: 'a', [name]: `→ "${long}"\n` } }];
      const { body, end, start } = placed(JSON.stringify(entries));
      const carried = carryEntries(body, start, end, false);
      assert.ok(JSON.stringify(carried?.entries).length < 200, name);
      assert.equal(carried?.write(JSON.stringify(carried.entries))?.toString(), JSON.stringify(entries));
      assert.equal(carryEntries(body, start, end, true), null, 'where arguments are JSON within JSON');
    }
  });

  it('are written into JSON of any length', () => {
    for (const times of [1, 10_000, 40_000]) {
      const entries = [{ content: long }, { name: '東'.repeat(times) }, { content: `${long}é` }];
      const { body, end, start } = placed(JSON.stringify(entries));
      const carried = carryEntries(body, start, end, false);
      assert.equal(carried?.write(JSON.stringify(carried.entries))?.toString(), JSON.stringify(entries));
    }
  });

  it('report that a text was left out, and are not written if one occurs twice', () => {
    const { body, end, start } = placed(JSON.stringify([{ content: long }]));
    const carried = carryEntries(body, start, end, false);
    assert.equal(carried?.write('[]')?.toString(), '[]');
    assert.equal(carried?.isWritten(), false);
    const twice = [...(carried?.entries ?? []), ...(carried?.entries ?? [])];
    assert.equal(carried?.write(JSON.stringify(twice)), null);
  });
});
