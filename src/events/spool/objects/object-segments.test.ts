import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { type S3Stub, startS3 } from '../../../../test/support/servers/s3.ts';
import { createLog } from '../../../lib/log.ts';
import { objectSegments, TakenOverError } from './object-segments.ts';
import { openObjects } from './open-objects.ts';

/** One log, and several gateways that want it, at an object store that fails. */

let s3: S3Stub;
before(async () => {
  s3 = await startS3();
});
after(() => s3.close());

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const environment: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: 'stub-key',
  AWS_SECRET_ACCESS_KEY: 'stub-secret',
};
const input = { listening: () => null, log, now: Date.now, variable: (name: string) => environment[name] };
const s3Url = (prefix: string) => `s3://bucket/${prefix}?endpoint=${encodeURIComponent(s3.url)}`;

async function openLog(address: string, owner: string, now = Date.now) {
  const store = await openObjects(address, input);
  return objectSegments({ store, prefix: 'log', owner, now });
}

const bytes = (text: string) => Buffer.from(text);

describe('a log in an object store', () => {
  for (const [name, addressOf] of [
    ['S3', () => s3Url('fencing')],
    ['a folder', (folder: string) => `file://${folder}`],
  ] as const)
    it(`belongs to whoever opened it last, in ${name}`, async (test) => {
      const address = addressOf(temporaryFolder(test));
      const first = await openLog(address, 'first');
      await first.open(0);
      const one = await first.write(bytes('one'));
      const second = await openLog(address, 'second');
      assert.ok((await second.open(0)).includes(one));
      await assert.rejects(first.write(bytes('lost')), TakenOverError);
      await assert.rejects(first.write(bytes('lost again')), TakenOverError);
      const two = await second.write(bytes('two'));
      assert.equal((await second.read(two)).toString(), 'two');
      const third = await openLog(address, 'third');
      const there = await third.open(0);
      const texts = await Promise.all(there.map(async (number) => String(await third.read(number))));
      assert.deepEqual(texts.filter((text) => text !== '').sort(), ['one', 'two']);
    });

  it('keeps the claims of others until nobody can write by them', async () => {
    let now = Date.now();
    const first = await openLog(s3Url('claims'), 'first');
    await first.open(0);
    const second = await openLog(s3Url('claims'), 'second', () => now);
    const [claim = 0] = await second.open(0);
    assert.equal((await second.read(claim)).length, 0);
    await second.remove(claim);
    assert.equal(s3.objects.has(`/bucket/claims/log/segments/${String(claim).padStart(12, '0')}`), true);
    now += 8 * 86_400_000;
    await second.remove(claim);
    assert.equal(s3.objects.has(`/bucket/claims/log/segments/${String(claim).padStart(12, '0')}`), false);
  });

  it('detects that a write with a lost answer succeeded', async () => {
    const log = await openLog(s3Url('lost'), 'first');
    await log.open(0);
    let left = 1;
    s3.fails((request) => {
      if (!request.startsWith('PUT')) return null;
      left -= 1;
      return left >= 0 ? 'lost' : null;
    });
    const one = await log.write(bytes('one'));
    left = 4;
    await assert.rejects(log.write(bytes('unknown')));
    s3.fails(() => null);
    // What nobody was told of is there, and is not taken for another gateway's.
    const two = await log.write(bytes('two'));
    assert.ok(two > one);
    assert.equal((await log.read(two)).toString(), 'two');
  });

  it('retries when the store fails for a moment, and reports its answer if it keeps failing', async () => {
    const log = await openLog(s3Url('faults'), 'first');
    await log.open(0);
    const faults: (number | 'cut')[] = [500, 'cut', 503];
    s3.fails(() => faults.shift() ?? null);
    assert.ok((await log.write(bytes('one'))) > 0);
    s3.fails(() => 403);
    await assert.rejects(log.write(bytes('two')), /status 403 \(Planted\)/);
    s3.fails(() => null);
    assert.ok((await log.write(bytes('two'))) > 0);
  });

  it('does not open without credentials or address', async () => {
    await assert.rejects(openObjects('s3://bucket/x', { ...input, variable: () => undefined }), /AWS_ACCESS/);
    for (const wrong of ['s3://', 'https://host/x', 'nowhere'])
      await assert.rejects(openObjects(wrong, input), /EVENTS_DFS_URL/);
    await assert.rejects(openObjects('s3://b?endpoint=ftp://h', input), /endpoint/);
  });
});
