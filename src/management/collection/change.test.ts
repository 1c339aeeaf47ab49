import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, callerOf, refused, setUp } from '../../../test/support/management/things.ts';
import type { Resource } from '../../http/resource.ts';
import type { GatewayError } from '../../lib/error.ts';

describe('changing an object', () => {
  it('takes PUT, PATCH and POST, objects and lists of edits', async () => {
    const { ask, changes, rows } = setUp('mcp');
    const edits = [
      { action: 'edit', path: 'name', value: 'c' },
      { action: 'remove', path: 'size' },
      { action: 'add', path: 'labels/team', value: 'x' },
    ];
    const cases: readonly [method: string, body: unknown, after: object][] = [
      ['PUT', { name: 'a' }, { name: 'a' }],
      ['PATCH', { name: 'b', size: 2 }, { name: 'b', size: 2 }],
      ['PATCH', edits, { name: 'c', size: null, labels: { team: 'x' } }],
      ['POST', { action: 'edit', resource: { size: 9 } }, { size: 9 }],
      ['POST', { action: 'edit', name: 'd' }, { name: 'd' }],
    ];
    for (const [method, body, after] of cases) {
      const answer = await ask(method, 'mcp', body);
      assert.equal(answer.status, 200);
      assert.partialDeepStrictEqual(answer.body, after);
      assert.partialDeepStrictEqual(rows.get('mcp'), after);
    }
    assert.partialDeepStrictEqual(changes[0], { before: { name: 'mcp' }, after: { name: 'a' } });
    assert.deepEqual(Object.keys(changes[0]?.after ?? {}), ['name'], 'only what differs is recorded');
  });

  it('accepts what was read, and does not change read-only fields', async () => {
    const { ask } = setUp('mcp');
    const read = bodyOf(await ask('GET', 'mcp'));
    assert.equal(bodyOf(await ask('PUT', 'mcp', { ...read, name: 'new' }))['name'], 'new');
    await refused(ask('PUT', 'mcp', { ...read, id: 'other' }), 400, 'id');
    await refused(ask('PUT', 'mcp', { created_at: 'now' }), 400, 'created_at');
    await refused(ask('PATCH', 'mcp', { hash: 'never shown' }), 400, 'hash');
    await refused(ask('PATCH', 'mcp', [{ action: 'edit', path: 'guid', value: 'x' }]), 400, 'guid');
    await refused(ask('PATCH', 'mcp', 'text'), 400, 'body');
    await refused(ask('PATCH', 'mcp', undefined), 400, 'body');
  });

  it('is refused when somebody else changed it first', async () => {
    const { ask, rows } = setUp('mcp');
    const { headers } = await ask('GET', 'mcp');
    const seen = { headers: { 'if-match': String(headers['etag']) } };
    const first = await ask('PATCH', 'mcp', { name: 'a' }, seen);
    await refused(ask('PATCH', 'mcp', { name: 'b' }, seen), 412);
    await refused(ask('DELETE', 'mcp', undefined, seen), 412);
    await refused(ask('POST', 'mcp', { action: 'edit', name: 'b' }, seen), 412);
    assert.equal(rows.get('mcp')?.['name'], 'a');
    const then = { headers: { 'if-match': String(first.headers['etag']) } };
    assert.equal((await ask('DELETE', 'mcp', undefined, then)).status, 204);
  });

  it('removes it with DELETE, without a body, and with POST, with one', async () => {
    const { ask, changes, rows } = setUp('mcp', 'store', 'built-in');
    assert.deepEqual(await ask('DELETE', 'mcp'), { status: 204, body: null, headers: {} });
    const posted = await ask('POST', 'store', { action: 'delete' });
    assert.deepEqual([posted.status, bodyOf(posted)['success']], [200, true]);
    await refused(ask('DELETE', 'built-in'), 409);
    assert.deepEqual([...rows.keys()], ['built-in']);
    assert.equal(changes[0]?.before?.['name'], 'mcp');
    assert.deepEqual(
      changes.map(({ outcome }) => outcome),
      ['success', 'success', 'failure'],
    );
  });
});

describe('a dry run', () => {
  it('says what would be done, and does nothing', async () => {
    const { ask, changes, rows } = setUp('mcp');
    const dry = { dryRun: true };
    const before = JSON.stringify([...rows]);
    const patch = await ask('PATCH', 'mcp', { name: 'a', api_key: 'hush' }, dry);
    assert.deepEqual(bodyOf(patch)['changes'], {
      name: { from: 'mcp', to: 'a' },
      api_key: { from: null, to: '[redacted]' },
    });
    const answers = [
      patch,
      await ask('POST', '', { name: 'a' }, dry),
      await ask('DELETE', 'mcp', undefined, dry),
      await ask('POST', 'mcp', { action: 'delete' }, dry),
      await ask('POST', 'mcp', { action: 'start' }, dry),
      await ask('POST', '', { action: 'start', resources: [{ id: 'mcp' }] }, dry),
      await ask('POST', '', { action: 'edit', resources: [{ id: 'mcp', name: 'a' }] }, dry),
      await ask('POST', '', { action: 'delete', resources: [{ id: 'mcp' }] }, dry),
    ];
    for (const { headers, status } of answers)
      assert.deepEqual([status, headers], [200, { 'x-dry-run': 'true' }]);
    assert.equal(JSON.stringify([...rows]), before);
    assert.deepEqual(changes, []);
  });

  it('reveals nothing that the caller may not see', async () => {
    const { ask } = setUp('mcp');
    const can = (name: string) => name === 'services:update' || name === 'services:read';
    const body = { process: { pid: 8 } };
    const answer = await ask('PATCH', 'mcp', body, { dryRun: true, caller: { ...callerOf('admin'), can } });
    assert.deepEqual(bodyOf(answer)['changes'], { process: { from: null, to: { pid: 8 } } });
  });

  it('is refused like the real thing', async () => {
    const { ask } = setUp('mcp');
    const dry = { dryRun: true };
    await refused(ask('PATCH', 'mcp', { colour: 'red' }, dry), 400, 'colour');
    await refused(ask('DELETE', 'nope', undefined, dry), 404);
    await refused(ask('DELETE', 'mcp?dryrun=true'), 400, 'dryrun');
    await refused(ask('DELETE', 'mcp?dry_run=yes'), 400, 'dry_run');
    await refused(ask('DELETE', 'mcp?dry_run=false&dry_run=true'), 400, 'dry_run');
    await refused(ask('GET', 'mcp?limit=1'), 400, 'limit');
    await refused(ask('DELETE', 'mcp', undefined, { ...dry, caller: callerOf('viewer') }), 403);
  });
});

describe('two concurrent changes of an object', () => {
  /** Changes that take a while, as those of a database elsewhere do. */
  function slowly(resource: Resource): Resource {
    const { update } = resource;
    if (update === undefined) throw new Error('things can be changed');
    return {
      ...resource,
      update: {
        ...update,
        async run(row, members, caller) {
          await delay(5);
          return update.run(row, members, caller);
        },
      },
    };
  }

  it('with a version: one succeeds, and the others get a conflict', async () => {
    const { ask, resource, rows } = setUp('a', 'b');
    const { headers } = await ask('GET', 'a');
    const seen = { resource: slowly(resource), headers: { 'if-match': String(headers['etag']) } };
    const tries = Array.from({ length: 8 }, (_, index) => ask('PATCH', 'a', { name: `by ${index}` }, seen));
    const settled = await Promise.allSettled(tries);
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const one of settled)
      if (one.status === 'rejected') assert.equal((one.reason as GatewayError).code, 'precondition_failed');
    assert.match(String(rows.get('a')?.['name']), /^by \d$/);
  });

  it('without a version: each is based on the one before', async () => {
    const { ask, resource, rows } = setUp('a');
    const slow = { resource: slowly(resource) };
    await Promise.all([
      ask('PATCH', 'a', { name: 'renamed' }, slow),
      ask('PATCH', 'a', { size: 5 }, slow),
      ask('PATCH', 'guid-a', { labels: { team: 'core' } }, slow),
    ]);
    const { labels, name, size }: Record<string, unknown> = rows.get('a') ?? {};
    assert.deepEqual({ labels, name, size }, { labels: { team: 'core' }, name: 'renamed', size: 5 });
  });

  it('do not block changes of other objects, or changes after a failure', async () => {
    const { ask, resource } = setUp('a', 'b');
    const slow = { resource: slowly(resource) };
    await refused(ask('PATCH', 'a', { size: 'x' }, slow), 400, 'size');
    await Promise.all([ask('PATCH', 'a', { size: 2 }, slow), ask('PATCH', 'b', { size: 2 }, slow)]);
  });
});
