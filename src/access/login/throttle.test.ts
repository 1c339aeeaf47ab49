import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { openStore } from '../../store/database.ts';
import { type LoginThrottle, openLoginThrottle } from './throttle.ts';

async function opened(test: TestContext, maxSubjects?: number) {
  const store = await openStore(temporaryFolder(test));
  const clock = { time: 1_800_000_000_000 };
  const open = () =>
    openLoginThrottle(store, {
      now: () => clock.time,
      ...(maxSubjects === undefined ? {} : { maxSubjects }),
    });
  const throttle = await open();
  test.after(async () => {
    await throttle.close();
    await store.close();
  });
  return { clock, open, store, throttle };
}

/** Seconds to wait, 0 for none. */
function waitOf(run: () => unknown): number {
  try {
    run();
    return 0;
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.code === 'too_many_logins');
    return error.retryAfter ?? Number.NaN;
  }
}

function fail(throttle: LoginThrottle, count: number, account = 'alice', address = '10.0.0.1') {
  for (let index = 0; index < count; index++) throttle.noteFailure(account, address);
}

describe('the login throttle', () => {
  it('lets five failures a minute pass, then asks to wait longer and longer', async (test) => {
    const { clock, throttle } = await opened(test);
    const check = () => waitOf(() => throttle.check('alice', '10.0.0.1'));
    fail(throttle, 4);
    assert.equal(check(), 0);
    const waits: number[] = [];
    for (let round = 0; round < 8; round++) {
      fail(throttle, 1);
      waits.push(check());
      clock.time += (waits.at(-1) ?? 0) * 1000;
      assert.equal(check(), 0, 'works again after Retry-After');
    }
    assert.deepEqual(waits, [30, 60, 120, 240, 480, 900, 900, 900]);
    clock.time += 15 * 60_000;
    fail(throttle, 4);
    assert.equal(check(), 0, 'a quiet quarter of an hour forgets');
  });

  it('forgets few failures after a minute', async (test) => {
    const { clock, throttle } = await opened(test);
    for (let round = 0; round < 10; round++) {
      fail(throttle, 4);
      clock.time += 60_000;
    }
    assert.equal(
      waitOf(() => throttle.check('alice', '10.0.0.1')),
      0,
    );
  });

  it('throttles one account on one client, and nobody else', async (test) => {
    const { throttle } = await opened(test);
    fail(throttle, 5);
    assert.ok(waitOf(() => throttle.check('alice', '10.0.0.1')) > 0);
    assert.ok(waitOf(() => throttle.check('alice', '::ffff:10.0.0.1')) > 0, 'IPv6 dress');
    assert.equal(
      waitOf(() => throttle.check('alice', '10.0.0.2')),
      0,
    );
    assert.equal(
      waitOf(() => throttle.check('bob', '10.0.0.1')),
      0,
    );
  });

  it('throttles a client that tries many accounts, also on this machine', async (test) => {
    const { throttle } = await opened(test);
    for (let index = 0; index < 50; index++) throttle.noteFailure(`user${index}`, '127.0.0.1');
    assert.ok(waitOf(() => throttle.check('fresh', '::1')) > 0);
    assert.equal(
      waitOf(() => throttle.check('fresh', '10.0.0.1')),
      0,
    );
  });

  it('counts attempts in progress, so that parallel guesses gain nothing', async (test) => {
    const { throttle } = await opened(test);
    const releases = Array.from({ length: 5 }, () => throttle.reserve('alice', '10.0.0.1'));
    assert.equal(
      waitOf(() => throttle.reserve('alice', '10.0.0.1')),
      1,
    );
    assert.equal(
      waitOf(() => throttle.check('alice', '10.0.0.1')),
      0,
    );
    for (const release of releases) release();
    for (const release of releases) release();
    throttle.reserve('alice', '10.0.0.1')();
    fail(throttle, 100);
    assert.equal(
      waitOf(() => throttle.check('alice', '10.0.0.1')),
      30,
      'those under way count once',
    );
  });

  it('allows up to a hundred unknown tokens a minute', async (test) => {
    const { clock, throttle } = await opened(test);
    for (let index = 0; index < 100; index++) throttle.unknownToken('10.0.0.1');
    assert.equal(
      waitOf(() => throttle.unknownToken('10.0.0.1')),
      30,
    );
    assert.equal(
      waitOf(() => throttle.unknownToken('10.0.0.2')),
      0,
    );
    assert.equal(
      waitOf(() => throttle.check('alice', '10.0.0.1')),
      0,
    );
    clock.time += 30_000;
    assert.equal(
      waitOf(() => throttle.unknownToken('10.0.0.1')),
      0,
    );
  });

  it('survives a restart, keeps no names, and is not fooled by a clock set back', async (test) => {
    const { clock, open, store, throttle } = await opened(test);
    fail(throttle, 6, 'hunter2-typed-as-a-name');
    await throttle.close();
    const rows = await store.db.selectFrom('login_failures').selectAll().execute();
    assert.equal(rows.length, 2);
    assert.equal(JSON.stringify(rows).includes('hunter2'), false);
    const again = await open();
    const check = () => waitOf(() => again.check('hunter2-typed-as-a-name', '10.0.0.1'));
    assert.equal(check(), 30);
    await again.close();
    clock.time -= 365 * 86_400_000;
    const back = await open();
    assert.ok(waitOf(() => back.check('hunter2-typed-as-a-name', '10.0.0.1')) <= 900);
    await back.close();
    clock.time += 366 * 86_400_000;
    await (await open()).close();
    assert.equal((await store.db.selectFrom('login_failures').selectAll().execute()).length, 0);
  });

  it('removes from the store what is forgotten, while it runs', async (test) => {
    const { clock, store, throttle } = await opened(test);
    fail(throttle, 3);
    await throttle.flush();
    clock.time += 3_600_000;
    throttle.noteFailure('bob', '10.0.0.9');
    await throttle.flush();
    const rows = await store.db.selectFrom('login_failures').select('last_at').execute();
    assert.deepEqual(new Set(rows.map((row) => row.last_at)), new Set([clock.time]));
  });

  it('keeps a bounded number of subjects, and evicts blocked ones last', async (test) => {
    const { throttle } = await opened(test, 20);
    fail(throttle, 5, 'alice', '10.0.0.1');
    for (let index = 0; index < 200; index++) throttle.noteFailure(`user${index}`, `10.0.${index}.1`);
    assert.ok(waitOf(() => throttle.check('alice', '10.0.0.1')) > 0);
  });

  it('never asks for more than a quarter of an hour, and ends whatever happens', async (test) => {
    const { clock, throttle } = await opened(test);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(5), fc.nat(1_000_000)), { maxLength: 40 }),
        (steps) => {
          for (const [account, failures, pause] of steps) {
            fail(throttle, failures, account);
            const wait = waitOf(() => throttle.check(account, '10.0.0.1'));
            assert.ok(wait >= 0 && wait <= 900);
            clock.time += pause;
          }
          clock.time += 900_000;
          assert.equal(
            waitOf(() => throttle.check('a', '10.0.0.1')),
            0,
          );
        },
      ),
    );
  });
});
