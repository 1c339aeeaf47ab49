import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { allKeys, idsOf, keyReader } from '../../src/access/keys/key-index.ts';
import { keyPages } from '../../src/access/keys/key-pages.ts';
import { keyPageQuery } from '../../src/access/keys/page.ts';
import { openLoginThrottle } from '../../src/access/login/throttle.ts';
import { keyStore } from '../../src/access/store.ts';
import { openTokens } from '../../src/access/tokens/tokens.ts';
import { userStore } from '../../src/access/users/users.ts';
import { savedViewStore } from '../../src/access/views/store.ts';
import { agentStore } from '../../src/agents/registry/store.ts';
import { limitedKeys } from '../../src/budgets/key-limits.ts';
import { leaseStore } from '../../src/budgets/shared/lease-store.ts';
import { budgetStore } from '../../src/budgets/store.ts';
import { thresholdStore } from '../../src/budgets/thresholds.ts';
import { aliasStore } from '../../src/combos/aliases/store.ts';
import { comboStore } from '../../src/combos/store.ts';
import { noteKey } from '../../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { configVersions } from '../../src/events/control/config-versions.ts';
import { openAccounts } from '../../src/health/store.ts';
import type { ListQuery } from '../../src/http/resource.ts';
import { countOfRequests } from '../../src/ledger/kept-sums/read.ts';
import { replaceEstimate } from '../../src/ledger/late-use.ts';
import { requestPage } from '../../src/ledger/page.ts';
import { createLedger } from '../../src/ledger/record.ts';
import { recentRequests, totals } from '../../src/ledger/report.ts';
import { requestCounts } from '../../src/ledger/requests/counts.ts';
import { toolRunsResource } from '../../src/ledger/requests/runs-resource.ts';
import { usageRows } from '../../src/ledger/usage.ts';
import { budgetUsageParts } from '../../src/ledger/used.ts';
import { createIdempotencyStore } from '../../src/management/guard/idempotency.ts';
import { countEncrypted } from '../../src/responses/encrypted-responses.ts';
import { placeStore } from '../../src/responses/places.ts';
import { createResponseEncryption } from '../../src/responses/row.ts';
import { responseStore } from '../../src/responses/store.ts';
import { openServiceRecords } from '../../src/services/store.ts';
import { openTasks } from '../../src/services/tasks/tasks.ts';
import type { Store } from '../../src/store/database.ts';
import { takeLease } from '../../src/store/lease.ts';
import { noteRevision } from '../../src/store/revision.ts';
import { createWriter } from '../../src/store/writer.ts';
import { tunnelStore } from '../../src/tunnels/store.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { type Engine, postgresEngine, postgresServer, sqliteEngine } from '../support/store/engines.ts';
import { madeEntry } from '../support/store/ledger.ts';

const secret = randomBytes(32);
const plain = { provider: 'openai', baseUrl: null, apiKey: null, defaultModel: null };

/** What every store of the gateway needs of a database, whichever it is. */
function storeContract({ name, open }: Engine): void {
  const opened = async (test: TestContext) => {
    const store = await open(test);
    const writer = createWriter(store, { flushMs: 3_600_000 });
    test.after(() => writer.stop());
    return { store, writer };
  };

  it('keeps keys, their limits and their names after they are gone', async (test) => {
    const { store } = await opened(test);
    const keys = limitedKeys(store, () => 5_000_000_000_000);
    const { row } = await keys.create({
      name: 'ci',
      models: ['gpt-*'],
      budget_usd: 2.5,
      labels: { app: 'ide' },
    });
    await assert.rejects(keys.create({ name: 'ci' }), /exists already/);
    const before = store.revision();
    await keyStore(store).update(String(row['id']), { name: 'ci-2', disabled: true });
    assert.ok(store.revision() > before, 'a change counts at once where it was made');
    assert.equal(await store.latestRevision(), store.revision());
    const found = await keyStore(store).find('ci-2');
    assert.deepEqual([found?.disabled, found?.models, found?.labels], [true, ['gpt-*'], { app: 'ide' }]);
    assert.equal(found?.createdAt, 5_000_000_000_000, 'times are numbers');
    assert.equal((await budgetStore(store).list())[0]?.limit, 2.5);
    assert.equal(await keyStore(store).remove(String(row['id'])), true);
    assert.deepEqual(await budgetStore(store).list(), []);
    const former = await store.db.selectFrom('former_names').selectAll().execute();
    assert.deepEqual(
      former.map((one) => one.name),
      ['ci-2'],
    );
    assert.ok(Math.abs(Number(former[0]?.removed_at) - Date.now()) < 60_000);
  });

  it('reads a page of the keys, and the index of keys', async (test) => {
    const { store, writer } = await opened(test);
    let at = 1000;
    const keys = keyStore(store, () => at++);
    const made = [];
    for (const [name, team] of [
      ['b', 'core'],
      ['a', 'core'],
      ['c', null],
    ] as const)
      made.push((await keys.add({ name, team, models: null, expiresAt: null })).record);
    const read = async (more: Partial<ListQuery>) => {
      const query = keyPageQuery({ groups: [], sort: [], ignoreCase: false, limit: 2, offset: 0, ...more });
      const { count, filtered, records } = await keys.page(query ?? assert.fail());
      return [records.map(({ name }) => name), filtered, count];
    };
    const by = (attribute: string, descending: boolean) => ({ sort: [{ attribute, descending }] });
    assert.deepEqual(await read({ offset: 2 }), [['c'], 3, 3]);
    assert.deepEqual(await read({ ...by('team', true), limit: 9 }), [['b', 'a', 'c'], 3, 3]);
    assert.deepEqual(await read({ ...by('name', false), limit: 1 }), [['a'], 3, 3]);
    const ledger = createLedger(writer);
    const used = Date.now();
    for (const [index, key] of [made[0], made[2], made[0]].entries())
      ledger.record(madeEntry({ id: `req_${index}`, keyId: key?.id ?? null, startedAt: used + index }));
    assert.equal(await writer.flush(), true);
    assert.deepEqual(await read({ ...by('last_used_at', true), limit: 9 }), [['b', 'c', 'a'], 3, 3]);
    assert.deepEqual(await read({ ...by('last_used_at', false), limit: 9 }), [['c', 'b', 'a'], 3, 3]);
    const core: ListQuery['groups'] = [[{ attribute: 'team', operator: '=', value: 'core' }]];
    assert.deepEqual(await read({ groups: core, limit: 1 }), [['b'], 2, 3]);
    await keys.update(made[2]?.id ?? '', { disabled: true });
    assert.deepEqual(await keys.counts(), { total: 3, usable: 2 });
    await keys.update(made[2]?.id ?? '', { disabled: false });
    assert.deepEqual([await keys.isTaken('b'), await keys.isTaken('d')], [true, false]);
    assert.equal((await keys.withHash(made[0]?.hash ?? ''))?.name, 'b');
    assert.equal(await keys.withHash('none'), null);
    const inForce = await allKeys(keyPages(store));
    assert.deepEqual(idsOf(inForce), made.map(({ id }) => id).sort());
    assert.deepEqual(inForce.byHash.get(made[0]?.hash ?? ''), made[0]);
    assert.deepEqual(inForce.byId.get(made[2]?.id ?? ''), made[2]);
  });

  it('notes which keys were changed, so that only those are read again', async (test) => {
    const { store } = await opened(test);
    const keys = keyStore(store);
    const add = (named: string) => keys.add({ name: named, models: null, expiresAt: null });
    const [a, b, c] = [await add('a'), await add('b'), await add('c')].map(({ record }) => record.id);
    const asked: (readonly string[])[] = [];
    let pages = 0;
    const named = (ids: readonly string[]) => {
      asked.push(ids.toSorted());
      return keys.named(ids);
    };
    const pageOf = keyPages(store);
    const read = keyReader({ changesAfter: keys.changesAfter, named }, (last, limit) => {
      pages += 1;
      return pageOf(last, limit);
    });
    const first = await read();
    assert.deepEqual(idsOf(first), [a, b, c].toSorted());
    assert.equal(await read(), first, 'nothing was changed');
    const made = await add('d');
    await keys.update(String(a), { disabled: true });
    await keys.remove(String(b));
    const next = await read();
    assert.deepEqual([pages, asked], [1, [[a, b, made.record.id].toSorted()]]);
    assert.deepEqual(idsOf(next).toSorted(), [a, c, made.record.id].toSorted());
    assert.equal(next.byId.get(String(a))?.disabled, true);
  });

  it('keeps users, and an admin among them', async (test) => {
    const { store } = await opened(test);
    const users = userStore(store);
    const add = (named: string, role: 'admin' | 'viewer') =>
      users.add({ name: named, role, password: '$scrypt$', displayName: null });
    const [ada, eve] = [await add('ada', 'admin'), await add('eve', 'admin')];
    await assert.rejects(add('ada', 'viewer'), /exists already/);
    const ended = await Promise.allSettled([users.disable(ada.id), users.disable(eve.id)]);
    assert.deepEqual(
      ended.map(({ status }) => status).sort(),
      ['fulfilled', 'rejected'],
      'one admin is left',
    );
    await users.setAdminPassword('$scrypt$1');
    await users.setAdminPassword('$scrypt$2');
    assert.equal((await users.list()).length, 3);
    await users.edit(ada.id, { displayName: 'Ada' });
    await users.setPassword(ada.id, '$scrypt$3');
    await users.loggedIn(ada.id);
    assert.equal((await users.list()).find(({ id }) => id === ada.id)?.displayName, 'Ada');
  });

  it('keeps the views of users, and deletes them with their user', async (test) => {
    const { store } = await opened(test);
    const users = userStore(store);
    const views = savedViewStore(store, () => 1_000);
    const user = { role: 'admin', displayName: null, password: 'a hash' } as const;
    const [ann, bob] = [await users.add({ ...user, name: 'ann' }), await users.add({ ...user, name: 'bob' })];
    const view = { page: 'requests', name: 'Failed', search: 'outcome=failed' } as const;
    const { id } = await views.add(ann.id, view);
    await views.add(bob.id, view);
    await assert.rejects(views.add(ann.id, view), { code: 'conflict' });
    assert.equal((await views.update(ann.id, id, { search: 'q=x' })).search, 'q=x');
    assert.equal(await views.find(bob.id, id), null);
    await users.remove(ann.id);
    assert.deepEqual([(await views.list(ann.id)).length, (await views.list(bob.id)).length], [0, 1]);
  });

  it('keeps tokens and failed logins', async (test) => {
    const { store } = await opened(test);
    const tokens = await openTokens(store, { sweepMs: 3_600_000 });
    const { record, token } = await tokens.issue({
      userId: 'user_1',
      kind: 'ui',
      credentialVersion: 1,
      roleVersion: 1,
      expiresAt: Date.now() + 60_000,
      authAt: null,
      ttlSeconds: 60,
      maxExpiresAt: null,
    });
    tokens.noteUse(record, { address: '10.0.0.1' });
    await tokens.close();
    const again = await openTokens(store, { sweepMs: 3_600_000 });
    assert.equal(again.find(token)?.lastUsedAddress, '10.0.0.1');
    assert.equal(await again.endSessions('user_1'), 1);
    await again.close();
    const throttle = await openLoginThrottle(store, {});
    throttle.noteFailure('ada', '10.0.0.1');
    await throttle.close();
    const rows = await store.db.selectFrom('login_failures').selectAll().execute();
    assert.ok(rows.length > 0 && rows.every(({ failures }) => failures === 1));
  });

  it('keeps connections, and carries a new name over', async (test) => {
    const { store } = await opened(test);
    const connections = connectionStore(store, secret);
    const added = await connections.add({ ...plain, name: 'work', apiKey: 'sk-1' });
    await assert.rejects(connections.add({ ...plain, name: 'work' }), /exists/);
    await aliasStore(store).add({ name: 'fast', target: 'work/gpt-5' });
    const combo = await comboStore(store).add({ name: 'best', targets: [{ target: 'work/gpt-5' }] } as never);
    assert.equal(await comboStore(store).activate(combo.id), true);
    assert.equal((await comboStore(store).list())[0]?.active, true);
    await connections.update(added.id, { name: 'home' });
    assert.equal((await aliasStore(store).list())[0]?.target, 'home/gpt-5');
    await connections.saveModels(added.id, ['a', 'b']);
    assert.deepEqual((await connections.find('home'))?.models, ['a', 'b']);
    await connections.clearCredentials();
    assert.equal((await connections.listSealed()).length, 0);
    assert.equal(await comboStore(store).activate(combo.id, { insteadOf: 'another' }), false);
    assert.equal(await comboStore(store).deactivate(combo.id), true);
    assert.equal(await comboStore(store).deactivate(combo.id), false);
    assert.equal(await connections.remove(added.id), true);
  });

  it('gives a name to only one of two concurrent writers', async (test) => {
    const { store } = await opened(test);
    const ended = await Promise.allSettled([
      connectionStore(store, secret).add({ ...plain, name: 'x1' }),
      aliasStore(store).add({ name: 'x1', target: 'gpt-5' }),
      comboStore(store).add({ name: 'x1', targets: [{ target: 'openai/gpt-5' }] } as never),
    ]);
    assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('writes requests once, and finds and sums them', async (test) => {
    const { store, writer } = await opened(test);
    const ledger = createLedger(writer);
    const at = Date.UTC(2026, 9, 31, 23, 59, 59);
    const entries = [
      madeEntry({ id: 'req_1', startedAt: at, session: 's1', tags: ['team=core', 'batch'], costUsd: 0.1 }),
      madeEntry({
        id: 'req_2',
        startedAt: at + 2000,
        costUsd: 0.2,
        outcome: 'failed',
        session: 's1',
        errorCode: 'x',
        errorMessage: 'Rate LIMIT\0',
        userAgent: 'claude-cli/2.0 (x)',
      }),
      madeEntry({
        id: 'req_3',
        startedAt: at + 3000,
        costUsd: null,
        priceSource: null,
        usage: null,
        billing: 'plan',
        estimated: true,
        tags: [],
        innerComboIds: ['combo_in'],
      }),
    ];
    for (const entry of [...entries, ...entries]) ledger.record(entry);
    assert.equal(await writer.flush(), true);
    const recent = await recentRequests(store, { limit: 10 });
    assert.deepEqual(
      recent.map(({ id }) => id),
      ['req_1', 'req_2', 'req_3'],
    );
    assert.deepEqual(recent[0], entries[0]);
    assert.deepEqual(
      (await recentRequests(store, { limit: 9, search: 'rate limit' })).map(({ id }) => id),
      ['req_2'],
    );
    assert.deepEqual(
      (await recentRequests(store, { limit: 9, tags: ['team=core'] })).map(({ id }) => id),
      ['req_1'],
    );
    assert.equal((await totals(store, { since: 0 })).costUsd, 0.3);
    const page = async (groups: unknown, sort: unknown = []) =>
      (await requestPage(store, { groups, sort, limit: 10, offset: 0, ignoreCase: true } as never)).rows.map(
        ({ id }) => id,
      );
    const filter = (attribute: string, operator: string, value: unknown) => [
      [{ attribute, operator, value }],
    ];
    assert.deepEqual(await page([]), ['req_3', 'req_2', 'req_1']);
    assert.deepEqual(await page(filter('tags', '=', 'team*')), ['req_1']);
    assert.deepEqual(await page(filter('text', '=', 'LIMIT')), ['req_2']);
    assert.deepEqual(await page(filter('client', '=', 'claude-cli')), ['req_2']);
    assert.deepEqual(await page(filter('cost_usd', '>', 0.15)), ['req_2']);
    assert.deepEqual(await page(filter('status', '<', 200.5)), ['req_3', 'req_2', 'req_1']);
    assert.deepEqual(await page(filter('model', '=', 'g*t*5')), ['req_3', 'req_2', 'req_1']);
    assert.deepEqual(await page(filter('model', '=', 'gpt-5-long*and*longer')), []);
    assert.deepEqual(await page(filter('billing', '!=', 'metered')), ['req_3']);
    assert.deepEqual(await page(filter('cost_unknown', '=', null)), ['req_3', 'req_2', 'req_1']);
    assert.deepEqual(await page(filter('key_name', '=', null)), ['req_3', 'req_2', 'req_1']);
    assert.deepEqual(await page(filter('estimated', '=', true)), ['req_3']);
    const sorted = [
      { attribute: 'cost_usd', descending: true },
      { attribute: 'user_agent', descending: false },
    ];
    assert.deepEqual(await page([], sorted), ['req_2', 'req_1', 'req_3']);
    const query = { since: 0, before: at + 10_000, timeZone: 'Europe/Berlin' };
    const [tag, byDay, tier] = [
      await usageRows(store, { ...query, by: ['tag'] }, at),
      await usageRows(store, { ...query, by: ['day', 'model', 'label:team', 'team', 'owner'] }, at),
      await usageRows(store, { ...query, by: ['month', 'tier'], only: { tag: 'team=core' } }, at),
    ];
    assert.deepEqual(
      tag.map((row) => [row.tag, row.requests]),
      [
        [null, 1],
        ['app=ide', 1],
        ['batch', 2],
        ['team=core', 1],
      ],
    );
    assert.deepEqual(
      byDay.map((row) => [row.period, row.model, row.requests]),
      [
        ['2026-11-01', 'gpt-5', 2],
        ['2026-11-01', 'gpt-5', 1],
      ],
    );
    assert.deepEqual(
      tier.map((row) => [row.tier, row.cost_usd]),
      [['default', 0.1]],
    );
    const counts = await requestCounts(store, [], at + 10_000);
    const counted = (id: string) => counts.find((one) => one.id === id);
    assert.deepEqual([counted('outcome:failed')?.requests, counted('outcome:failed')?.failed], [1, 1]);
    assert.deepEqual([counted('status:200')?.requests, counted('client:claude-cli')?.failed], [3, 1]);
    assert.equal(await countOfRequests(store), 3);
    const runs = await toolRunsResource(store).page?.(
      { groups: [], sort: [], limit: 5, offset: 0 } as never,
      {} as never,
    );
    assert.equal(runs?.rows[0]?.['failed'], 1);
    const parts = await budgetUsageParts(store, {
      only: { combo_id: 'combo_in' },
      since: at,
      before: at + 60_000,
      stepMs: 60_000,
    });
    assert.deepEqual(
      parts.map(({ requests, usd }) => [requests, usd]),
      [[1, 0]],
    );
    const late = {
      usage: entries[0]?.usage ?? null,
      servedTier: null,
      finishReason: 'tool_calls' as const,
      rawFinishReason: 'tool_use',
      costUsd: 1,
      priceSource: 'p',
      cacheSavingsUsd: 0,
    };
    assert.equal((await replaceEstimate(store, 'req_3', () => late))?.id, 'req_3');
    assert.equal(await replaceEstimate(store, 'req_3', () => late), null);
  });

  it('keeps the sound rows of a batch, and tells of the others', async (test) => {
    const { store } = await opened(test);
    const refused: unknown[] = [];
    const rows = [
      ['a', '1'],
      ['c', null],
      ['b', '3'],
      ['a', '4'],
    ] as const;
    assert.equal(
      await store.insertMany('settings', ['name', 'value'], rows, (error) => refused.push(error)),
      true,
    );
    const kept = await store.db.selectFrom('settings').selectAll().orderBy('name').execute();
    assert.deepEqual(
      kept.map((row) => [row.name, row.value]),
      [
        ['a', '1'],
        ['b', '3'],
      ],
    );
    assert.equal(refused.length, 1);
  });

  it('stores responses, their locations, and the health of accounts', async (test) => {
    const { store, writer } = await opened(test);
    const key = { key: createSecretKey(secret), name: 'this' };
    const options = {
      sealing: createResponseEncryption(key),
      retentionDays: 30,
      maxBytes: 1e9,
      now: () => 1000,
    };
    const answer = {
      id: 'resp_1',
      createdAt: 1000,
      keyId: 'key_a',
      connectionId: 'con_1',
      model: 'm',
      previousId: null,
      input: [{ text: 'Grüße ☀' }],
      response: { id: 'resp_1' },
    };
    responseStore(store, writer, options).put(answer as never);
    const places = placeStore(store, writer, { stored: true, now: () => 1000 });
    places.note({
      id: 'p1',
      keyId: 'key_a',
      connectionId: 'c',
      createdAt: 1000,
      requestId: null,
      model: 'm',
    });
    await writer.flush();
    const found = await responseStore(store, writer, options).get('resp_1', 'key_a');
    assert.deepEqual((found as { input: unknown }).input, answer.input);
    assert.deepEqual(await countEncrypted(store, 'this'), { total: 1, unreadable: 0 });
    assert.equal(
      await placeStore(store, writer, { stored: true, now: () => 1000 }).find('p1', 'other'),
      'foreign',
    );
    assert.equal(await responseStore(store, writer, { ...options, maxBytes: 0 }).sweep(), 1);
    await places.sweep();
    const standing = ['con_1', '', 'cooling', 'x', 1, Date.now() + 60_000, 1, 2, null];
    const columns = [
      'connection_id',
      'model',
      'state',
      'reason',
      'since',
      'until',
      'told',
      'failures',
      'fingerprint',
    ];
    await store.insertMany('standings', columns, [standing, standing.with(7, 3)]);
    await store.insertMany('standings', columns, [standing.with(7, 4)]);
    const accounts = await openAccounts(store, Date.now, () => {});
    assert.equal(accounts.storedStates[0]?.healthState?.failures, 4);
    await accounts.close();
  });

  it('gives a lease to one holder at a time', async (test) => {
    const { store } = await opened(test);
    const all = await Promise.all([1, 2, 3].map(() => takeLease(store, 'backup', 60_000)));
    const [lease, ...others] = all.filter((one) => one !== null);
    assert.equal(others.length, 0);
    await lease?.release();
    assert.notEqual(await takeLease(store, 'backup', 60_000), null);
  });

  it('records idempotent requests once, and stores tasks, services and thresholds', async (test) => {
    const { store } = await opened(test);
    const once = createIdempotencyStore({ store, storageKey: { key: secret } as never, now: () => 1000 });
    let runs = 0;
    const run = async () => {
      runs += 1;
      return { status: 201, headers: {}, body: { runs } } as never;
    };
    const asked = { userId: 'u', key: 'k', content: ['POST'] };
    await once.answer(asked, run);
    const again = (await once.answer(asked, run)) as { headers: Record<string, string> };
    assert.deepEqual([runs, again.headers['idempotency-replayed']], [1, 'true']);
    await assert.rejects(once.answer({ ...asked, content: ['PUT'] }, run), /a different request/);
    await once.sweep();
    const tasks = await openTasks(store, () => 1000);
    const id = await tasks.begin({ message: 'm', name: 'n', target: 't', userId: 'u' });
    await tasks.progress(id, 0.5, 'half');
    assert.equal((await tasks.find(id))?.progress, 0.5);
    await tasks.finish(id, 'Ok', 'done', { a: 1 });
    await tasks.sweep();
    const services = await openServiceRecords(store, () => 1000);
    await services.update('store', { labels: { a: 'b' } });
    assert.deepEqual((await openServiceRecords(store, () => 1)).cached('store')?.labels, { a: 'b' });
    const thresholds = thresholdStore(store);
    const reached = { at: 5, budgetId: 'b', kind: 'soft', used: 0.5, what: 'Half.' } as const;
    await thresholds.add(reached);
    await thresholds.add(reached);
    assert.deepEqual([await thresholds.since(0), (await thresholds.last()).get('b')?.soft], [[reached], 5]);
  });

  it('stores everything else', async (test) => {
    const { store } = await opened(test);
    const versions = configVersions(store);
    const first = await versions.add({ at: 1, author: 'a', text: 'x: 1', via: 'file' });
    const second = await versions.add({ at: 2, author: 'a', text: 'x: 2', via: 'api' });
    assert.equal(second.number, first.number + 1);
    await versions.remove(second.number);
    assert.deepEqual({ ...(await versions.newest()) }, first);
    const tunnel = { id: 'ngrok', domain: null, desired: 'running', createdAt: 5 } as const;
    await tunnelStore(store).put(tunnel);
    await tunnelStore(store).put({ ...tunnel, desired: 'stopped' });
    assert.deepEqual(await tunnelStore(store).list(), [{ ...tunnel, desired: 'stopped' }]);
    await leaseStore(store).forgetAll();
    assert.deepEqual(await agentStore(store).list(), []);
    await noteKey(store.db, 'one');
    await noteKey(store.db, 'two');
    const before = store.revision();
    await noteRevision(store);
    assert.equal(store.revision(), before + 1);
    const alert = {
      name: 'a',
      kind: 'webhook',
      target: '',
      secret: null,
      events: '[]',
      condition: null,
      digest_ms: 0,
      paused: 0,
      by_api: 0,
      created_at: 1,
      updated_at: 1,
      active_since: 1,
    } as const;
    await store.db
      .insertInto('alerts')
      .values({ id: 'alert_1', ...alert })
      .execute();
    await store.db.insertInto('alert_digests').values({ alert_id: 'alert_1', state: '{}' }).execute();
    await store.db.deleteFrom('alerts').where('id', '=', 'alert_1').execute();
    assert.deepEqual(await store.db.selectFrom('alert_digests').selectAll().execute(), []);
    assert.equal((await store.reading.selectFrom('settings').selectAll().execute()).length, 1, name);
  });

  it('rolls a transaction back as a whole', async (test) => {
    const { store } = await opened(test);
    const failing = store.db.transaction().execute(async (trx) => {
      await noteKey(trx as Store['db'], 'one');
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.deepEqual(await store.db.selectFrom('settings').selectAll().execute(), []);
  });
}

describe('a store in a file', () => storeContract(sqliteEngine));
describe('a store on a PostgreSQL server', { skip: !hasPostgres }, () =>
  storeContract(postgresEngine(postgresServer())),
);
