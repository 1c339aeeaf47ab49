import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callerOf, refused, resultsOf, setUp } from '../../../test/support/management/things.ts';

describe('creating objects', () => {
  it('accepts them bare, in "resource" and in a list, and shows a secret once', async () => {
    const { ask, rows } = setUp();
    const bodies = [
      { name: 'one' },
      { action: 'create', name: 'two' },
      { action: 'add', resource: { name: 'three' } },
      { action: 'create', resources: [{ name: 'four' }, { name: 'five' }] },
    ];
    for (const body of bodies) {
      const answer = await ask('POST', '', body);
      assert.equal(answer.status, 200);
      for (const result of resultsOf(answer)) assert.equal(result['key'], 'shown-once');
    }
    assert.deepEqual(
      [...rows.values()].map(({ name }) => name),
      ['one', 'two', 'three', 'four', 'five'],
    );
  });

  it('refuses an id, unknown fields and invalid input, naming the field', async () => {
    const { ask, rows } = setUp();
    const bodies: readonly [body: unknown, param: string][] = [
      [{ name: 'x', id: 'mine' }, 'id'],
      [{ name: 'x', href: '/api/things/x' }, 'href'],
      [{ name: 'x', colour: 'red' }, 'colour'],
      [{ name: '' }, 'name'],
      [{}, 'name'],
      [[], 'body'],
      [undefined, 'body'],
      ['text', 'body'],
      [{ action: 5 }, 'action'],
      [{ action: 'create', resource: { name: 'x' }, name: 'y' }, 'name'],
      [{ action: 'create', resources: [{ name: 'x' }, { name: 'y', id: '1' }] }, 'resources[1].id'],
      [{ action: 'create', resources: [{ name: 'x' }, { size: 1 }] }, 'resources[1].name'],
      [{ action: 'create', resources: Array(201).fill({ name: 'x' }) }, 'resources'],
      [JSON.parse(`{"name":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), 'body'],
    ];
    for (const [body, param] of bodies) await refused(ask('POST', '', body), 400, param);
    assert.equal(rows.size, 0, 'nothing was made');
  });

  it('reports the result of each of several', async () => {
    const { ask, changes } = setUp();
    const body = { action: 'create', resources: [{ name: 'a' }, { name: 'taken' }, { name: 'b' }] };
    const results = resultsOf(await ask('POST', '', body));
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, false, true],
    );
    assert.deepEqual(
      changes.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['success', null],
        ['failure', 'conflict'],
        ['success', null],
      ],
    );
    await refused(ask('POST', '', { name: 'taken' }), 409, 'name');
  });

  it('is recorded, without secrets', async () => {
    const { ask, changes } = setUp();
    const credentials = { parts: ['hush'] };
    await ask('POST', '', { name: 'a', api_key: 'hush', labels: { token: 'hush' } });
    await ask('POST', '', { name: 'taken', api_key: 'hush', credentials }).catch(() => undefined);
    const [change] = changes;
    assert.deepEqual([change?.action, change?.target, change?.outcome], ['create', 'new-0', 'success']);
    assert.equal(change?.after?.['name'], 'a');
    assert.deepEqual(changes[1]?.input, {
      name: 'taken',
      api_key: '[redacted]',
      credentials: { parts: ['[redacted]'] },
    });
    assert.doesNotMatch(JSON.stringify(changes), /hush|shown-once|never shown/);
  });

  it('is refused where it cannot be recorded', async () => {
    const { ask, failing, rows } = setUp();
    failing.audit = true;
    await assert.rejects(ask('POST', '', { name: 'a' }), /disk is full/);
    assert.equal(rows.size, 0, 'nothing is done where rights are decided over');
  });

  it('is also recorded in advance if it grants rights', async () => {
    const { ask, changes, intents } = setUp();
    await ask('POST', '', { name: 'a' });
    assert.deepEqual([intents[0]?.action, changes[0]?.action], ['create', 'create']);
  });

  it('shows only its location to callers who may not read it', async () => {
    const { ask } = setUp();
    const caller = { ...callerOf('admin'), can: (name: string) => name === 'keys:create' };
    const [result] = resultsOf(await ask('POST', '', { name: 'a' }, { caller }));
    assert.deepEqual(result, { href: '/api/things/new-0', id: 'new-0', key: 'shown-once' });
  });

  it('by a task is answered with 202 and the location of the task', async () => {
    const { ask, changes, resource } = setUp('a');
    const { create } = resource;
    assert.ok(create);
    const run = async () => ({ row: { id: 'later' }, taskId: 'task_1' });
    const slow = { resource: { ...resource, create: { ...create, run } } };
    const answer = await ask('POST', '', { name: 'later' }, slow);
    assert.equal(answer.status, 202);
    assert.equal(answer.headers['location'], '/api/tasks/task_1');
    const [result] = resultsOf(answer);
    assert.equal(result?.['task_id'], 'task_1');
    assert.equal(result?.['href'], '/api/things/later');
    assert.equal(changes.at(-1)?.target, 'later');
    const both = await ask('POST', '', { resources: [{ name: 'b' }, { name: 'c' }] }, slow);
    assert.equal(both.status, 202);
    assert.equal(both.headers['location'], undefined, 'there are two');
  });
});
