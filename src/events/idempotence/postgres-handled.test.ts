import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import postgres from 'postgres';
import { hasPostgres, startPostgres } from '../../../test/support/brokers/postgres.ts';
import type { PrivateBroker } from '../../../test/support/brokers/server-process.ts';
import { numberedEvent } from '../../../test/support/event-trigger.ts';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { createLog } from '../../lib/log.ts';
import { resolveAddress } from '../channels/broker/address.ts';
import { createIdempotence } from './idempotence.ts';
import { createPostgresHandled } from './postgres-handled.ts';

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const folder = temporaryFolder({ after });
let server: PrivateBroker;

before(async () => {
  if (hasPostgres) server = await startPostgres(folder);
});
after(() => server?.kill());

const settle = async () => {};
const event = numberedEvent('1');

describe('what gateways remember together', { skip: !hasPostgres }, () => {
  /** A gateway with a name of its own. */
  const gateway = (t: { after(fn: () => unknown): void }, trigger: string, name: string) => {
    const address = resolveAddress(server.url, () => undefined);
    const store = createPostgresHandled({ address, instance: async () => name, log });
    t.after(() => store.close());
    return createIdempotence({ trigger, retry: null, store });
  };

  it('lets one gateway handle an event, and the others know what became of it', async (t) => {
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

  it('gives the event of a gateway that died to itself at once, and to others when its lease ends', async (t) => {
    await gateway(t, 'd', 'one').begin(event, false);
    const again = await gateway(t, 'd', 'one').begin(event, false);
    assert.equal(again.kind, 'claimed');
    const other = gateway(t, 'd', 'other');
    const stopping = new AbortController();
    const stopped = other.begin(event, false, stopping.signal);
    stopping.abort();
    assert.equal((await stopped).kind, 'stopped');
    const sql = postgres(server.url, { max: 1 });
    t.after(() => sql.end({ timeout: 0 }));
    await sql`update modelgate_handled set claimed_until = clock_timestamp() where trigger_id = 'd'`;
    assert.equal((await other.begin(event, false)).kind, 'claimed');
  });

  it('lets a dead letter be handled again when somebody asks for that, and forgets what is old', async (t) => {
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
