import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasPostgres } from '../../test/support/brokers/postgres.ts';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { postgresServer } from '../../test/support/store/engines.ts';
import { openStore } from './database.ts';
import { takeLease } from './lease.ts';
import { openPostgresStore } from './postgres/store.ts';

it('a lease has one holder until it expires, or until the clock was set back', async (test) => {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  let time = Date.UTC(2026, 10, 22);
  const take = () => takeLease(store, 'login', 30_000, () => time);
  const first = await take();
  assert.ok(first);
  assert.equal(await take(), null);
  time -= 50_000;
  assert.equal(await take(), null, 'a correction of the clock takes it from nobody');
  time -= 86_400_000;
  assert.ok(await take(), 'its holder of tomorrow is gone');
  time += 30_000;
  const third = await take();
  assert.ok(third);
  await third.release();
  assert.ok(await take());
});

describe('a lease that gateways on several machines want', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('ends by the clock of the server, whatever time a machine believes it is', async (test) => {
    const url = await postgres.database();
    const [one, other] = await Promise.all(
      ['one', 'other'].map(() => openPostgresStore(url, { follow: false })),
    );
    assert.ok(one && other);
    test.after(() => Promise.all([one.close(), other.close()]));
    const hour = 3_600_000;
    const held = await takeLease(one, 'login', 30_000);
    assert.ok(held);
    assert.equal(await takeLease(other, 'login', 30_000, () => Date.now() + hour), null);
    assert.equal(await takeLease(other, 'login', 30_000, () => Date.now() - hour), null);
    await held.release();
    assert.ok(await takeLease(other, 'login', 0, () => Date.now() + hour));
    assert.ok(await takeLease(one, 'login', 30_000), 'that one has ended');
  });
});
