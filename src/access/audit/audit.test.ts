import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { runScript } from '../../../test/support/machine/process.ts';
import { GatewayError } from '../../lib/error.ts';
import { openAudit } from './audit.ts';
import { parseRecord } from './chain.ts';
import type { AuditEntry, AuditRecord } from './schema.ts';
import { verifyAudit } from './verify.ts';

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  request_id: 'req_1',
  actor: { id: '1', name: 'admin', role: 'admin', via: 'token', token_id: 'tok_1' },
  address: '127.0.0.1',
  action: 'keys.create',
  target: '7',
  input: null,
  before: null,
  after: { name: 'laptop' },
  outcome: 'success',
  reason: null,
  ...more,
});

const november = Date.UTC(2026, 10, 21, 10);

function opened(
  test: TestContext,
  { retentionMonths = null as number | null, dataDir = temporaryFolder(test) } = {},
) {
  const clock = { now: november };
  const errors: unknown[] = [];
  const make = () =>
    openAudit({ dataDir, retentionMonths, now: () => clock.now, onError: (error) => errors.push(error) });
  const log = make();
  test.after(() => log.close());
  const file = join(log.folder, '2026-11.jsonl');
  const records = (name = '2026-11.jsonl'): AuditRecord[] =>
    readFileSync(join(log.folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => parseRecord(line) ?? assert.fail(line));
  return { clock, errors, log, make, file, records, verify: () => verifyAudit(log.folder) };
}

describe('the audit log', () => {
  it('chains records, readable by the owner only, and keeps their order', async (test) => {
    const { log, file, records, verify } = opened(test);
    log.write(entry({ target: 'a' }));
    log.write(entry({ target: 'b' }));
    await log.writeNow(entry({ target: 'c' }));
    assert.deepEqual(
      records().map(({ seq, target }) => [seq, target]),
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    );
    assert.equal(records()[0]?.prev, '0'.repeat(64));
    assert.equal(records()[1]?.prev, records()[0]?.hash);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(log.folder).mode & 0o777, 0o700);
    const verification = await verify();
    assert.deepEqual(
      [verification.ok, verification.records, verification.last?.hash],
      [true, 3, records()[2]?.hash],
    );
  });

  it('writes waiting records when it is closed', async (test) => {
    const { log, records } = opened(test);
    log.write(entry());
    await log.close();
    assert.equal(records().length, 1);
  });

  it('escapes characters that would break lines or terminals, and masks secrets', async (test) => {
    const { log, file, records, verify } = opened(test);
    const key = `sk-${'a1B2'.repeat(8)}`;
    await log.writeNow(
      entry({
        target: 'x\r\n{"seq":1}\u001b[31m\u009b\u2028\u202e',
        input: { password: 'hunter2', api_key: key, note: `use ${key} please`, key_id: '7', models: ['a'] },
        after: { base_url: 'https://user:pass@example.com/v1', nested: { authToken: 'abc' }, token_ttl: 600 },
      }),
    );
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^[\x20-\x7e…]+\n$/);
    for (const secret of [key, 'hunter2', 'user:pass', 'abc"'])
      assert.equal(text.includes(secret), false, secret);
    const [record] = records();
    assert.equal(record?.input?.['key_id'], '7');
    assert.equal(record?.after?.['token_ttl'], 600);
    assert.equal(record?.target, 'x\r\n{"seq":1}\u001b[31m\u009b\u2028\u202e');
    assert.equal((await verify()).ok, true);
  });

  it('stays bounded and whole for hostile values', async (test) => {
    const { log, file, verify } = opened(test);
    const deep: Record<string, unknown> = {};
    let at = deep;
    for (let depth = 0; depth < 5000; depth++) at = at['x'] = {} as Record<string, unknown>;
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`m${n}`, n]));
    const odd = JSON.parse('{"__proto__":{"a":1},"10":1,"2":1,"e":""}') as Record<string, unknown>;
    await log.writeNow(entry({ input: deep, before: wide, after: odd, target: '\ud800'.repeat(9000) }));
    assert.ok(statSync(file).size < 20_000);
    assert.equal((await verify()).ok, true);
  });

  it('counts a flood of refusals instead of keeping each, and keeps all that users do', async (test) => {
    const { clock, log, records } = opened(test);
    const nobody = { id: null, name: null, role: null, via: 'none', token_id: null } as const;
    const refused = (address: string) =>
      entry({ actor: nobody, action: 'auth.refused', outcome: 'denied', reason: 'unauthorized', address });
    for (let n = 0; n < 500; n++) log.write(refused('10.0.0.1'));
    log.write(refused('10.0.0.2'));
    for (let n = 0; n < 30; n++)
      log.write(entry({ action: 'users.edit', outcome: 'denied', reason: 'forbidden' }));
    clock.now += 61_000;
    log.write(refused('10.0.0.1'));
    for (let n = 0; n < 5000; n++) log.write(refused(`10.1.${n >> 8}.${n & 255}`));
    await log.close();
    const from = (address: string | null) => records().filter((record) => record.address === address);
    assert.equal(from('10.0.0.1').length, 22);
    assert.deepEqual(from('10.0.0.1')[20]?.after, { repeated: 480 });
    assert.equal(from('10.0.0.2').length, 1);
    assert.equal(records().filter(({ action }) => action === 'users.edit').length, 30);
    assert.ok(records().length < 1100);
    assert.equal(from(null)[0]?.after?.['repeated'], 5000 - 998 - 20);
  });

  it('continues after a restart, and begins a new file each month', async (test) => {
    const { clock, log, make, records, verify } = opened(test);
    await log.writeNow(entry());
    const again = make();
    clock.now = Date.UTC(2026, 11, 1);
    await again.writeNow(entry());
    // The clock is set back: no file is begun before the newest one.
    clock.now = november;
    await again.writeNow(entry());
    assert.deepEqual(
      records('2026-12.jsonl').map(({ seq }) => seq),
      [2, 3],
    );
    assert.equal((await verify()).ok, true);
  });

  it('is one chain even with several writers at once', async (test) => {
    const { log, make, verify } = opened(test);
    const other = make();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? log : other).writeNow(entry({ target: String(n) })),
      ),
    );
    const verification = await verify();
    assert.deepEqual([verification.ok, verification.records], [true, 20]);
  });

  it('sets an unfinished line aside, and says so in the next record', async (test) => {
    const { log, file, records, verify } = opened(test);
    await log.writeNow(entry());
    appendFileSync(file, '{"action":"keys.cr');
    assert.deepEqual([(await verify()).ok, (await verify()).unfinished], [true, true]);
    await log.writeNow(entry());
    assert.deepEqual(
      records().map(({ action }) => action),
      ['keys.create', 'audit.recovered', 'keys.create'],
    );
    const tornFile = String(records()[1]?.after?.['kept']);
    assert.equal(readFileSync(join(log.folder, tornFile), 'utf8'), '{"action":"keys.cr');
    assert.equal((await verify()).ok, true);
  });

  it('detects records that were cut off while it runs', async (test) => {
    const { log, file, verify } = opened(test);
    await log.writeNow(entry());
    const size = statSync(file).size;
    await log.writeNow(entry());
    truncateSync(file, size);
    await log.writeNow(entry());
    const { fault, ok } = await verify();
    assert.equal(ok, false);
    assert.deepEqual([fault?.file, fault?.line], ['2026-11.jsonl', 2]);
  });

  it('refuses an action that must be recorded when writing fails, and keeps other records for later', async (test) => {
    const { errors, log, records, verify } = opened(test);
    mkdirSync(join(log.folder, '2026-11.jsonl'), { recursive: true });
    log.write(entry({ target: 'later' }));
    await assert.rejects(log.writeNow(entry({ target: 'refused' })), (error: unknown) => {
      assert.ok(error instanceof GatewayError && error.code === 'audit_unavailable' && error.status === 503);
      return true;
    });
    assert.ok(errors.length > 0);
    rmSync(join(log.folder, '2026-11.jsonl'), { recursive: true });
    await log.writeNow(entry({ target: 'now' }));
    assert.deepEqual(
      records().map(({ target }) => target),
      ['later', 'now'],
    );
    assert.equal((await verify()).ok, true);
  });

  it('removes files of months past, and the rest still verifies', async (test) => {
    const first = opened(test);
    for (const month of [3, 4, 5, 10]) {
      first.clock.now = Date.UTC(2026, month, 5);
      await first.log.writeNow(entry());
    }
    const { dataDir } = { dataDir: join(first.log.folder, '..') };
    const later = opened(test, { dataDir, retentionMonths: 6 });
    await later.log.writeNow(entry());
    await later.log.close();
    const names = readdirSync(later.log.folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
    assert.deepEqual(names, ['2026-05.jsonl', '2026-06.jsonl', '2026-11.jsonl']);
    assert.deepEqual(
      later
        .records()
        .filter(({ action }) => action === 'audit.removed')
        .map(({ target }) => target),
      ['2026-04.jsonl'],
    );
    assert.equal((await later.verify()).ok, true);
    rmSync(join(later.log.folder, '2026-05.jsonl'));
    assert.match((await later.verify()).fault?.reason ?? '', /missing/);
  });
});

describe('a check of the audit log', () => {
  const tampered: readonly [what: string, change: (lines: string[]) => void, line: number][] = [
    [
      'a changed value',
      (lines) => lines.splice(1, 1, (lines[1] ?? '').replace('"target":"b"', '"target":"z"')),
      2,
    ],
    ['a removed record', (lines) => lines.splice(1, 1), 2],
    ['two records in another order', (lines) => lines.splice(1, 2, lines[2] ?? '', lines[1] ?? ''), 2],
    ['a record twice', (lines) => lines.splice(1, 0, lines[0] ?? ''), 2],
    ['another spelling', (lines) => lines.splice(2, 1, (lines[2] ?? '').replace('{', '{ ')), 3],
    [
      'a member that stands twice',
      (lines) => lines.splice(0, 1, (lines[0] ?? '').replace('{', '{"action":"x",')),
      1,
    ],
    ['a line that is no record', (lines) => lines.splice(2, 1, 'hello'), 3],
    ['an empty line', (lines) => lines.splice(1, 0, ''), 2],
    ['the first record gone', (lines) => lines.splice(0, 1), 1],
  ];
  for (const [what, change, line] of tampered) {
    it(`finds ${what}`, async (test) => {
      const { log, file, verify } = opened(test);
      for (const target of ['a', 'b', 'c', 'd']) log.write(entry({ target }));
      await log.close();
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      change(lines);
      writeFileSync(file, `${lines.join('\n')}\n`);
      const { fault, ok } = await verify();
      assert.equal(ok, false);
      assert.equal(fault?.line, line);
    });
  }

  it('of a folder that is not there finds nothing wrong', async (test) => {
    const { verify } = opened(test);
    assert.deepEqual([(await verify()).ok, (await verify()).records], [true, 0]);
  });
});

describe('a killed writer', () => {
  it('leaves a chain that verifies and has every record that was acknowledged', async (test) => {
    const dataDir = temporaryFolder(test);
    for (let round = 0; round < 3; round++) {
      const script = runScript(
        test,
        import.meta.dirname,
        `const { openAudit } = await import('./audit.ts');
         const log = openAudit({ dataDir: ${JSON.stringify(dataDir)}, retentionMonths: null, now: Date.now, onError: (error) => say(error) });
         const entry = (target) => ({ request_id: null, actor: { id: null, name: null, role: null, via: 'cli', token_id: null }, address: null, action: 'test', target, input: null, before: null, after: { text: 'x'.repeat(900) }, outcome: 'success', reason: null });
         for (let n = 0; ; n++) {
           for (let more = 0; more < 50; more++) log.write(entry('soon'));
           await log.writeNow(entry('safe'));
           say(n);
         }`,
      );
      for (let line = 0; line < 10; line++) await script.line();
      await script.kill();
    }
    const { log, verify, file } = opened(test, { dataDir });
    await log.writeNow(entry());
    const verification = await verify();
    assert.equal(verification.ok, true, JSON.stringify(verification.fault));
    const folder = join(dataDir, 'audit');
    const name = readdirSync(folder).filter((one) => one.endsWith('.jsonl'));
    assert.ok(verification.records >= 3 * 10 * 51, `${verification.records} in ${name} ${file}`);
  });
});
