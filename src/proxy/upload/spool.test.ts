import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { GatewayError } from '../../lib/error.ts';
import { Spool } from './spool.ts';

async function contents(spool: Spool): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of spool.contents()) pieces.push(piece);
  return Buffer.concat(pieces);
}

for (const [where, count] of [
  ['memory', 3],
  ['a file', 50],
] as const) {
  test(`what is stored in ${where} is read back, and leaves no file`, async (t) => {
    const folder = join(temporaryFolder(t), 'uploads');
    const spool = new Spool(folder);
    const pieces = Array.from({ length: count }, () => randomBytes(20_000));
    for (const piece of pieces) await spool.write(piece);
    assert.equal(existsSync(folder), where === 'a file');
    if (where === 'a file') assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(await contents(spool), Buffer.concat(pieces));
    await spool.close();
    await spool.close();
    assert.equal((await contents(spool)).length, 0);
  });
}

test('closing while it is read ends the reading', async (t) => {
  const spool = new Spool(join(temporaryFolder(t), 'uploads'));
  await spool.write(randomBytes(1_000_000));
  let pieces = 0;
  for await (const _ of spool.contents()) {
    pieces += 1;
    await spool.close();
  }
  assert.equal(pieces, 1);
});

test('closing while it is written discards later bytes and the file', async (t) => {
  const folder = join(temporaryFolder(t), 'uploads');
  const open = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
      } catch {
        return false;
      }
    });
  // From the moment before the file is made to the one after the last byte.
  for (let turns = 0; turns < 12; turns++) {
    const spool = new Spool(folder);
    await spool.write(randomBytes(200_000));
    const writing = spool.write(randomBytes(2_000_000)).then(() => spool.write(randomBytes(10)));
    for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
    await spool.close();
    await writing;
    assert.equal((await contents(spool)).length, 0);
    if (process.platform === 'linux') assert.deepEqual(open(), [], `closed after ${turns} turns`);
  }
});

test('a folder that cannot be made is an error of the gateway', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  const spool = new Spool(join(file, 'uploads'));
  await assert.rejects(spool.write(randomBytes(300_000)), (error: unknown) => {
    assert.ok(error instanceof GatewayError && error.code === 'internal_error');
    assert.match(error.message, /ENOTDIR/);
    return true;
  });
});
