import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { hasPostgres, startPostgres } from '../../../test/support/brokers/postgres.ts';
import type { PrivateBroker } from '../../../test/support/brokers/server-process.ts';
import { numberedEvent } from '../../../test/support/events/event-trigger.ts';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { delayedPort } from '../../../test/support/upstream/delayed-port.ts';
import { createKeyedMutex } from '../../lib/keyed-mutex.ts';
import { createLog } from '../../lib/log.ts';
import { resolveAddress } from '../channels/broker/address.ts';
import { createIdempotence } from './idempotence.ts';
import { createPostgresHandled, type SharedHandled, type SharedHandledInput } from './postgres-handled.ts';

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const folder = temporaryFolder({ after });
let server: PrivateBroker;

before(async () => {
  if (hasPostgres) server = await startPostgres(folder);
});
after(() => server?.kill());

interface Cleanup {
  after(fn: () => unknown): void;
}

const quick = { leaseMs: 500, keptMs: 20_000, silentMs: 700 };
const settle = async () => {};
const event = numberedEvent('1');

describe('the shared memory of handled events', { skip: !hasPostgres }, () => {
  const open = (t: Cleanup, name: string, times?: SharedHandledInput['times'], url = server.url) => {
    const address = resolveAddress(url, () => undefined);
    const store = createPostgresHandled({
      address,
      instance: async () => name,
      log,
      ...(times && { times }),
    });
    t.after(() => store.close());
    return store;
  };
  const triggerOf = (store: SharedHandled, trigger: string) =>
    createIdempotence({ claims: createKeyedMutex(), trigger, retry: null, store });
  /** A trigger of a gateway with a name of its own. */
  const gateway = (t: Cleanup, trigger: string, name: string, times?: SharedHandledInput['times']) =>
    triggerOf(open(t, name, times), trigger);

  it('lets one gateway handle an event, and tells the others the outcome', async (t) => {
    const [one, other] = [gateway(t, 'a', 'one'), gateway(t, 'a', 'other')];
    const claim = await one.begin(event, false);
    assert.ok(claim.kind === 'claimed');
    let answered = false;
    const waiting = other.begin(event, false).finally(() => {
      answered = true;
    });
    assert.equal((await other.begin(numberedEvent('2'), false)).kind, 'claimed');
    assert.equal(answered, false);
    await claim.finish('done', settle, true);
    assert.deepEqual(await waiting, { kind: 'duplicate', differs: false });
    assert.deepEqual(await one.begin({ ...event, data: Buffer.from('other') }, false), {
      kind: 'duplicate',
      differs: true,
    });
    assert.equal((await gateway(t, 'b', 'one').begin(event, false)).kind, 'claimed');
  });

  it('lets another gateway handle what was not finished', async (t) => {
    const [one, other] = [gateway(t, 'c', 'one'), gateway(t, 'c', 'other')];
    const claim = await one.begin(event, false);
    assert.ok(claim.kind === 'claimed');
    const waiting = other.begin(event, false);
    claim.release();
    assert.equal((await waiting).kind, 'claimed');
  });

  it('returns a claim of a gateway that died to that gateway at once, and to others when its lease ends', async (t) => {
    const dead = open(t, 'one');
    await triggerOf(dead, 'd').begin(event, false);
    await dead.close();
    const again = open(t, 'one');
    assert.equal((await triggerOf(again, 'd').begin(event, false)).kind, 'claimed');
    const other = gateway(t, 'd', 'other');
    const stopping = new AbortController();
    const stopped = other.begin(event, false, { stopping: stopping.signal });
    stopping.abort();
    assert.equal((await stopped).kind, 'stopped');
    await again.close();
    assert.equal((await other.begin(event, false)).kind, 'claimed');
  });

  it('keeps an event for a gateway whose connection stands, and in the end gives it to another one', async (t) => {
    const paused = open(t, 'one', { ...quick, leaseMs: 60_000, keptMs: 60_000 });
    const claim = await triggerOf(paused, 'f').begin(event, false);
    assert.ok(claim.kind === 'claimed');
    const other = gateway(t, 'f', 'other', { ...quick, keptMs: 600_000 });
    const stopping = new AbortController();
    t.after(() => stopping.abort());
    let answered = false;
    const waiting = other.begin(event, false, { stopping: stopping.signal }).finally(() => {
      answered = true;
    });
    const sql = postgres(server.url, { max: 1 });
    t.after(() => sql.end({ timeout: 0 }));
    const endLease = (ago: string) =>
      sql`update modelgate_handled set claimed_until = clock_timestamp() - ${ago}::interval where trigger_id = 'f'`;
    await endLease('1 minute');
    // The other one knows by now which connections are there.
    await delay(3 * quick.leaseMs);
    assert.equal(answered, false);
    await endLease('1 hour');
    assert.equal((await waiting).kind, 'claimed');
  });

  it('keeps an event for a gateway that was cut off when it had handled it', async (t) => {
    const port = await delayedPort(() => server.port);
    t.after(port.close);
    const url = server.url.replace(`:${server.port}`, `:${port.port}`);
    const one = triggerOf(open(t, 'one', quick, url), 'g');
    const other = gateway(t, 'g', 'other', quick);
    const claim = await one.begin(event, false);
    assert.ok(claim.kind === 'claimed');
    port.silence();
    port.refuses = true;
    const waiting = other.begin(event, false);
    let answered = false;
    void waiting.finally(() => {
      answered = true;
    });
    await assert.rejects(claim.finish('done', settle, false));
    claim.release();
    await delay(3 * quick.leaseMs);
    assert.equal(claim.isHeld(), false);
    assert.equal(answered, false);
    port.refuses = false;
    await claim.finish('done', settle, false);
    assert.deepEqual(await waiting, { kind: 'duplicate', differs: false });
  });

  it('keeps an event while the server is restarted, though all connections are new', async (t) => {
    const own = await startPostgres(temporaryFolder(t));
    t.after(() => own.kill());
    const port = await delayedPort(() => own.port);
    t.after(port.close);
    const url = own.url.replace(`:${own.port}`, `:${port.port}`);
    const one = triggerOf(open(t, 'one', quick, url), 'h');
    const other = triggerOf(open(t, 'other', { ...quick, leaseMs: 4_000 }, own.url), 'h');
    const claim = await one.begin(event, false);
    assert.ok(claim.kind === 'claimed');
    assert.equal((await other.begin(numberedEvent('2'), false)).kind, 'claimed');
    await own.kill();
    port.refuses = true;
    await own.start();
    const waiting = other.begin(event, false);
    await waitFor('the other one to be connected again', async () => {
      const answer = await other.begin(numberedEvent(crypto.randomUUID()), false).catch(() => null);
      return answer?.kind === 'claimed';
    });
    await delay(2 * quick.leaseMs);
    port.refuses = false;
    await claim.finish('done', settle, false);
    assert.deepEqual(await waiting, { kind: 'duplicate', differs: false });
  });

  it('lets a dead letter be handled again on request, and forgets old events', async (t) => {
    const [one, other] = [gateway(t, 'e', 'one'), gateway(t, 'e', 'other')];
    const claim = await one.begin(event, false);
    assert.ok(claim.kind === 'claimed');
    await claim.finish('dead', settle, false);
    assert.equal((await other.begin(event, false)).kind, 'duplicate');
    const replayed = await other.begin(event, true);
    assert.ok(replayed.kind === 'claimed');
    replayed.release();
    assert.equal((await one.begin(event, false)).kind, 'duplicate');
    const sql = postgres(server.url, { max: 1 });
    t.after(() => sql.end({ timeout: 0 }));
    await sql`update modelgate_handled set until = clock_timestamp() where trigger_id = 'e'`;
    const fresh = await one.begin(numberedEvent('3'), false);
    assert.ok(fresh.kind === 'claimed');
    await fresh.finish('done', settle, false);
    const [row] = await sql`select count(*) as rows from modelgate_handled where trigger_id = 'e'`;
    assert.equal(Number(row?.['rows']), 1);
  });
});
