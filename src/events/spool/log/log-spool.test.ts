import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { settled } from '../../../../test/support/machine/fake-clock.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { fc } from '../../../../test/support/machine/properties.ts';
import { createLog } from '../../../lib/log.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Storage } from '../../config/config.ts';
import type { Spool } from '../spool.ts';
import { localSegments } from './local-segments.ts';
import { openLogSpool } from './log-spool.ts';
import { NoSpace, type Segments } from './segments.ts';

/** What a storage that lasts does when its disk is full, damaged, or was not written to the end (E10, E11). */

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const FOREVER = Number.POSITIVE_INFINITY;
const event = (id: string, bytes = 100): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: Buffer.alloc(bytes, id),
});
const storage = (whenFull: Storage['whenFull'], bytes = 10_000_000): Storage => ({
  type: 'local',
  bytes,
  whenFull,
});

function openIn(folder: string, segmentBytes = 4_096, whenFull: Storage['whenFull'] = 'block') {
  const segments = localSegments({ folder, segmentBytes, minFreeBytes: 0 });
  return openLogSpool({ storage: storage(whenFull), segments, sourceId: 'app', log });
}

async function idsIn(spool: Spool): Promise<string[]> {
  const waiting = await spool.next('a', 10_000);
  for (const { event: one } of waiting)
    assert.deepEqual(one.data, event(one.attributes.id).data, 'what comes out is what went in');
  return waiting.map((one) => one.event.attributes.id);
}

/** A folder with the log of 50 events in several segments, none of which is closed properly. */
async function written(test: TestContext): Promise<{ folder: string; files: string[]; ids: string[] }> {
  const folder = temporaryFolder(test);
  const spool = await openIn(folder);
  const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
  for (const id of ids) assert.equal(await spool.add(event(id), ['a'], FOREVER), 'kept');
  await spool.close();
  const files = readdirSync(folder).filter((name) => name.endsWith('.log'));
  assert.ok(files.length > 1);
  return { folder, files, ids };
}

describe('a storage whose disk is damaged', () => {
  it('loses no more than the damaged record, and delivers nothing else', async (test) => {
    const { files, folder, ids } = await written(test);
    const originals = new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (name, at, mask) => {
          for (const [file, bytes] of originals) writeFileSync(join(folder, file), bytes);
          const bytes = Buffer.from(originals.get(name) ?? []);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] ?? 0) ^ mask;
          writeFileSync(join(folder, name), bytes);
          const spool = await openIn(folder);
          const read = await idsIn(spool);
          assert.equal(read.length, 49, 'one is lost');
          assert.deepEqual(
            read,
            ids.filter((id) => read.includes(id)),
          );
          assert.equal(spool.status().damaged, 1);
          await spool.close();
        },
      ),
      { numRuns: 40 },
    );
    assert.ok(readdirSync(folder).some((name) => name.startsWith('damaged-')));
  });

  it('keeps every record that was written completely, wherever the last write ended', async (test) => {
    const { files, folder, ids } = await written(test);
    const last = join(folder, files.at(-1) ?? '');
    const whole = readFileSync(last);
    for (const length of [whole.length - 1, whole.length - 150, 13, 1, 0]) {
      writeFileSync(last, whole);
      truncateSync(last, length);
      const spool = await openIn(folder);
      const read = await idsIn(spool);
      assert.deepEqual(read, ids.slice(0, read.length));
      assert.ok(read.length < ids.length);
      await spool.close();
      if (length === 0) break;
    }
  });

  it('continues when a segment is unreadable, and counts what is lost', async (test) => {
    const folder = temporaryFolder(test);
    const first = await openIn(folder);
    for (let index = 0; index < 20; index += 1) await first.add(event(`${index}`), ['a'], FOREVER);
    await first.close();
    const spool = await openIn(folder);
    const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.log'));
    writeFileSync(join(folder, name), '');
    const read = await idsIn(spool);
    assert.ok(read.length < 20);
    assert.equal(spool.status().damaged, 20 - read.length);
    assert.equal(spool.waiting('a'), read.length);
    await spool.close();
  });
});

/** Segments in memory on a disk that is full when it is told to be. */
function fullDisk(): { segments: Segments; full: (is: boolean) => void } {
  const written = new Map<number, Buffer>();
  let isFull = false;
  let last = 0;
  return {
    full(is) {
      isFull = is;
    },
    segments: {
      progressEveryMs: 60_000,
      open: async () => [],
      read: async (segment) => written.get(segment) ?? Buffer.alloc(0),
      async write(bytes) {
        if (isFull) throw new NoSpace('full');
        last += 1;
        written.set(last, bytes);
        return last;
      },
      async remove(segment) {
        written.delete(segment);
        isFull = false;
      },
      setAside: async () => {},
      readProgress: async () => null,
      writeProgress: async () => {},
      close: async () => {},
    },
  };
}

describe('a storage whose disk is full', () => {
  const open = (disk: ReturnType<typeof fullDisk>, whenFull: Storage['whenFull']) =>
    openLogSpool({ storage: storage(whenFull), segments: disk.segments, sourceId: 'app', log });

  it('lets senders wait until there is room, and loses nothing', async () => {
    const disk = fullDisk();
    const spool = await open(disk, 'block');
    assert.equal(await spool.add(event('1'), ['a'], FOREVER), 'kept');
    disk.full(true);
    const second = spool.add(event('2'), ['a'], FOREVER);
    const third = spool.add(event('3'), ['a'], 1);
    const [first] = await spool.next('a', 1);
    spool.done('a', [first?.sequence ?? 0]);
    assert.equal(await second, 'kept');
    const late = await third;
    assert.ok(late === 'kept' || late === 'full');
    assert.deepEqual(await idsIn(spool), late === 'kept' ? ['2', '3'] : ['2']);
    await spool.close();
  });

  it('drops new events if configured so, and none that it has', async () => {
    const disk = fullDisk();
    const spool = await open(disk, 'drop');
    await spool.add(event('1'), ['a'], FOREVER);
    disk.full(true);
    assert.equal(await spool.add(event('2'), ['a'], FOREVER), 'dropped');
    assert.equal(spool.status().problem, 'there is no space left');
    assert.deepEqual(await idsIn(spool), ['1']);
    const [first] = await spool.next('a', 1);
    spool.done('a', [first?.sequence ?? 0]);
    await settled();
    assert.equal(await spool.add(event('3'), ['a'], FOREVER), 'kept');
    assert.deepEqual(await idsIn(spool), ['3']);
    assert.equal(spool.status().problem, null);
    await spool.close();
  });

  it('does the same on a real disk of 256 KiB', async (test) => {
    const disk = mkdtempSync(join(tmpdir(), 'gateway-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]);
    test.after(() => {
      spawnSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
    });
    if (mounted.status !== 0) return test.skip('a disk can only be mounted by root');
    const spool = await openIn(join(disk, 'log'), 16_384, 'drop');
    const outcomes: string[] = [];
    for (let index = 0; index < 100; index += 1)
      outcomes.push(await spool.add(event(`${index}`, 100), ['a'], FOREVER));
    for (let index = 100; index < 400; index += 1)
      outcomes.push(
        await spool.add({ ...event(`${index}`), data: Buffer.alloc(4_000, `${index}`) }, ['b'], 1),
      );
    const kept = outcomes.filter((outcome) => outcome === 'kept').length;
    assert.ok(kept > 100 && kept < 400);
    assert.equal(outcomes.filter((outcome) => outcome === 'dropped').length, 400 - kept);
    assert.equal((await idsIn(spool)).length, 100);
    assert.equal(spool.waiting('b'), kept - 100);
    await spool.close();
    const again = await openIn(join(disk, 'log'));
    assert.equal(again.status().damaged, 0);
    assert.equal(again.waiting('a') + again.waiting('b'), kept);
    const waiting = await again.next('b', 1_000);
    again.done(
      'b',
      waiting.map(({ sequence }) => sequence),
    );
    assert.equal(await again.add(event('room'), ['a'], FOREVER), 'kept');
    await again.close();
  });
});
