import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from './run.ts';

const event = { specversion: '1.0', id: '1', source: '/orders', type: 'com.example.made', priority: 4 };

describe('gateway events filter', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());
  const filter = (args: readonly string[], stdin = '') =>
    sandbox.run(['events', 'filter', ...args], { stdin });

  it('accepts an expression, and names what it reads', async () => {
    const { code, stderr, stdout } = await filter(["type LIKE 'com.%' AND priority > 3"]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, 'The expression is valid. It reads priority, type.\n');
  });

  it('points at the place where an expression is wrong', async () => {
    const { code, stderr, stdout } = await filter(["EXISTS '😀' OR\ntype == 'a'"]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(
      stderr,
      "column 8: EXISTS takes the name of an attribute, not \"'😀'\".\n  EXISTS '😀' OR\n         ^^^\n",
    );
    const second = await filter(["id = '😀' OR\ntype == 'a'"]);
    assert.match(second.stderr, /^line 2, column 7: .+single =\.\n {2}type == 'a'\n {8}\^\n$/);
    const long = await filter([`${"id = 'x' OR ".repeat(200)}?`]);
    assert.match(long.stderr, /\n {2}(.{40})\?\n {2} {40}\^\n$/);
    const document = (await filter(['1 +', '--json'])).json();
    assert.equal(document['valid'], false);
    assert.partialDeepStrictEqual(document['error'], {
      kind: 'parse',
      line: 1,
      column: 4,
      offset: 3,
      end: 3,
    });
  });

  it('warns of what is seldom meant', async () => {
    const { code, stderr } = await filter(["NOT id = 'x'"]);
    assert.equal(code, 0);
    assert.match(stderr, /^Warning: column 1: NOT belongs .+\n {2}NOT id = 'x'\n {2}\^{12}\n$/);
    const document = (await filter(["NOT id = 'x'", '--json'])).json();
    assert.partialDeepStrictEqual(document, {
      valid: true,
      canonical: "NOT id = 'x'",
      type: 'Boolean',
      attributes: ['id'],
      warnings: [{ code: 'not-precedence', line: 1, column: 1 }],
    });
  });

  it('tries it on an event from a file, and says why it does not pass', async () => {
    const file = join(sandbox.dataDir, '..', 'event.json');
    await writeFile(file, JSON.stringify(event));
    const passing = await filter(['priority > 3', '--event', file]);
    assert.deepEqual([passing.code, passing.stdout], [0, 'The event passes.\n']);
    const failing = await filter(["missing = 'a' OR type < 1", '--event', file]);
    assert.equal(failing.code, 1);
    assert.match(
      failing.stdout,
      /does not pass: 2 errors\.\ncolumn 1: .+"missing"\.\n.+\n {2}\^{7}\ncolumn 18: /,
    );
    const other = await filter(['priority', '--event', file]);
    assert.deepEqual([other.code, other.stdout], [1, 'The event does not pass: the value is 4.\n']);
  });

  it('tries it on many events from stdin, as a list and line by line', async () => {
    const events = [event, { ...event, id: '2', priority: 1 }, { ...event, id: '3', priority: 'high' }];
    const list = await filter(['priority > 3', '--event', '-'], JSON.stringify(events));
    assert.equal(list.code, 0, list.stderr);
    assert.match(list.stdout, /yes +1 [\s\S]+no +2 [\s\S]+no +3 .+"high"[\s\S]+1 of 3 events passes\./);
    const lines = events.map((each) => JSON.stringify(each)).join('\n');
    const { json } = await filter(['priority > 3', '--event', '-', '--json'], lines);
    assert.partialDeepStrictEqual(json()['events'], [
      { id: '1', passes: true, value: true, errors: [] },
      { id: '2', passes: false, value: false, errors: [] },
      { id: '3', passes: false, value: false, errors: [{ kind: 'cast', column: 1 }] },
    ]);
  });

  it('refuses what is no event, and names what is missing', async () => {
    const refused = async (input: string, message: RegExp) => {
      const { code, stderr } = await filter(['TRUE', '--event', '-'], input);
      assert.equal(code, 1);
      assert.match(stderr, message);
    };
    await refused('{"id":"1"}', /stdin \(specversion\): /);
    await refused(JSON.stringify([event, { ...event, type: '' }]), /stdin \(\[1\]\.type\): .+empty/);
    await refused(JSON.stringify({ ...event, priority: 1.5 }), /stdin \(priority\): .+integer/);
    await refused(`${JSON.stringify(event)}\n{"id":""}\n`, /stdin \(\[1\]\.id\): /);
    await refused('[1]', /JSON object/);
    await refused('nonsense', /not a valid JSON object/);
    await refused('nonsense\nin lines', /not a valid JSON list/);
    const { code, stderr } = await filter(['TRUE', '--event', 'absent.json']);
    assert.equal(code, 1);
    assert.match(stderr, /Cannot read the file "absent\.json": ENOENT/);
  });
});
