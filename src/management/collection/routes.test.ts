import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { callerOf, now, refused, setUp } from '../../../test/support/management/things.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Change } from './collection.ts';

describe('the order of refusal', () => {
  it('is 400 for an unknown method or action, then 403, 415 and 404', async () => {
    const { ask } = setUp('mcp');
    const caller = callerOf('viewer');
    const checkAccept = () => {
      throw new GatewayError('not_acceptable', 'no JSON');
    };
    await refused(ask('POST', 'nope', { action: 'explode' }, { caller, checkAccept }), 400, 'action');
    await refused(ask('PATCH', '', {}, { caller, checkAccept }), 400);
    await refused(ask('POST', 'nope', { action: 'start' }, { caller, checkAccept }), 403);
    await refused(ask('GET', 'nope', undefined, { caller, checkAccept }), 415);
    await refused(ask('GET', 'nope', undefined, { caller }), 404);
    await refused(ask('DELETE', 'nope', undefined, { caller }), 403);
    await refused(ask('DELETE', 'nope', undefined, { checkAccept }), 404);
    await refused(ask('GET', 'mcp/sub', undefined, { caller }), 404);
  });

  it('refuses actions that the resource does not have', async () => {
    const { ask, resource } = setUp('mcp');
    const { create: _c, update: _u, remove: _r, actions: _a, ...only } = resource;
    const send = (method: string, path: string, body?: unknown) =>
      ask(method, path, body, { resource: only });
    await refused(send('POST', '', { name: 'x' }), 400, 'action');
    await refused(send('PUT', 'mcp', { name: 'x' }), 400);
    await refused(send('DELETE', 'mcp'), 400);
    for (const action of ['edit', 'delete', 'start', 'toString', '__proto__'])
      await refused(send('POST', 'mcp', { action }), 400, 'action');
    assert.equal((await send('GET', 'mcp')).status, 200);
  });

  it('asks for a password proven now where the permission does', async () => {
    const { ask, changes } = setUp('mcp');
    const stale = await refused(
      ask('DELETE', 'mcp', undefined, { caller: callerOf('admin', now - 301_000) }),
      403,
    );
    assert.equal(stale.code, 'reauthentication_required');
    assert.equal(changes[0]?.reason, 'reauthentication_required');
    assert.equal((await ask('DELETE', 'mcp')).status, 204);
  });

  it('is recorded for each denied request', async () => {
    const { ask, changes } = setUp('mcp');
    await refused(ask('POST', 'mcp', { action: 'start' }, { caller: callerOf('viewer') }), 403);
    const { caller, ...change } = changes[0] as Change;
    assert.equal(caller.name, 'viewer');
    assert.deepEqual(change, {
      action: 'start',
      collection: 'things',
      target: 'mcp',
      before: null,
      after: null,
      input: null,
      outcome: 'denied',
      reason: 'forbidden',
    });
  });
});

describe('any request', () => {
  it('is answered or refused, and never fails in another way', async () => {
    const reference = fc.oneof(fc.constantFrom('mcp', 'built-in', 'nope', ''), fc.string({ maxLength: 5 }));
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('mcp', 1, null, true));
    const member = fc.dictionary(
      fc.constantFrom(
        'id',
        'href',
        'name',
        'size',
        'labels',
        'force',
        'path',
        'value',
        'action',
        '__proto__',
      ),
      value,
    );
    const edit = fc.record({
      action: fc.constantFrom('add', 'edit', 'remove', 'x'),
      path: fc.constantFrom('name', 'labels/a', 'labels/a/b', 'process/pid', '__proto__/x', 'id', '/'),
      value,
    });
    const body = fc.oneof(
      value,
      fc.array(edit, { maxLength: 3 }),
      fc.record(
        {
          action: fc.oneof(fc.constantFrom('create', 'query', 'edit', 'delete', 'start', 'toString'), value),
          resource: fc.oneof(member, value),
          resources: fc.oneof(fc.array(fc.oneof(member, value), { maxLength: 3 }), value),
          name: value,
        },
        { requiredKeys: [] },
      ),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
    const header = fc.option(fc.string(), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.record({ method, reference, body, header, dryRun: fc.boolean() }),
        async ({ body: sent, dryRun, header: tag, method: verb, reference: id }) => {
          const { ask, resource } = setUp('mcp', 'built-in');
          const headers = tag === undefined ? {} : { 'if-match': tag, 'if-none-match': tag };
          const rest = id === '' ? [] : [id];
          try {
            const answer = await ask(verb, '', structuredClone(sent), { rest, headers, dryRun, resource });
            assert.ok(answer.status < 500);
            assert.doesNotMatch(JSON.stringify(answer.body), /never shown/);
          } catch (error) {
            assert.ok(error instanceof GatewayError && error.status < 500, String(error));
          }
        },
      ),
      { numRuns: 2_000 },
    );
    assert.ok(!Object.hasOwn(Object.prototype, 'x'));
  });
});
