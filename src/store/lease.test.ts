import assert from 'node:assert/strict';
import { it } from 'node:test';
import { temporaryFolder } from '../../test/support/folder.ts';
import { openStore } from './database.ts';
import { takeLease } from './lease.ts';

it('a lease has one holder until its time is over, or until the clock says that it cannot be of now', async (test) => {
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
