import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { holdsPermission, permissions, type Role, roleHas, roles } from '../../src/access/permissions.ts';
import { challenged, firstResult, managed, refused } from '../support/management/management.ts';
import { type ApiOperation, operationsOf } from '../support/management/openapi.ts';

/**
 * A request that could do what the operation does, and does nothing: the member is not there, the body is empty, and it
 * is a dry run where there is such a thing.
 */
function harmless({ action, method, path }: ApiOperation): { method: string; path: string; body?: object } {
  const target = path.replace('{id}', absent);
  if (method === 'GET') return { method, path: target };
  const several = action === 'create' || path.includes('{id}') ? {} : { resources: [{ id: absent }] };
  const body = action === null ? {} : { action, ...several };
  return { method, path: `${target}?dry_run=true`, ...(method === 'DELETE' ? {} : { body }) };
}

const absent = 'there-is-no-such-member';

describe('the table of permissions over the wire', () => {
  const at = managed();
  const tokens = new Map<Role, string>();
  let operations: ApiOperation[] = [];

  before(async () => {
    for (const role of roles) tokens.set(role, (await at.person(`a-${role}`, role)).token);
    operations = await operationsOf(at);
  });
  const tokenOf = (role: Role) => tokens.get(role) ?? '';

  it('SC-03 documents the permission of every operation as the table does', () => {
    assert.ok(operations.length > 20, `${operations.length} operations`);
    for (const { having, permission, title } of operations) {
      if (permission === null) continue;
      assert.ok(Object.hasOwn(permissions, permission), `${title}: the table lacks ${permission}`);
      if (having !== null)
        assert.deepEqual(
          having,
          roles.filter((role) => roleHas(role, permission)),
          title,
        );
    }
  });

  for (const role of roles) {
    it(`SC-03 lets a user who is ${role} do what the table says, and nothing else`, async () => {
      for (const operation of operations) {
        const { permission, title } = operation;
        if (permission === null || (operation.streams && roleHas(role, permission))) continue;
        const { method, path, body } = harmless(operation);
        const reply = await at.call(method, path, {
          token: tokenOf(role),
          ...(body === undefined ? {} : { body }),
        });
        if (!roleHas(role, permission)) {
          refused(reply, 403, 'forbidden');
          assert.ok(reply.text.includes(permission), `${title}: the permission is named`);
        } else if (!isOfOthers(operation, role)) {
          assert.ok(
            [200, 204, 400, 404, 409].includes(reply.status),
            `${title}: ${reply.status} ${reply.text}`,
          );
        }
      }
    });
  }

  /** Users besides oneself are for admins, which the resource itself decides: 403 whether or not there are any. */
  const isOfOthers = ({ method, path }: ApiOperation, role: Role) =>
    role !== 'admin' && (path === '/api/users/{id}' || (path === '/api/users' && method === 'POST'));

  it('SC-03 reports a missing permission before a missing object or a wrong format', async () => {
    for (const operation of operations) {
      const { method, permission } = operation;
      if (permission === null || roleHas('viewer', permission) || method === 'GET') continue;
      const { body, path } = harmless(operation);
      const reply = await at.call(method, path, {
        token: tokenOf('viewer'),
        ...(body === undefined ? {} : { body }),
        headers: { accept: 'application/xml' },
      });
      refused(reply, 403, 'forbidden');
    }
  });

  it('SC-03 lets callers lower their role for a request, and never raise it', async () => {
    for (const [index, role] of roles.entries()) {
      for (const [wanted, name] of roles.entries()) {
        const headers = { 'x-gateway-role': name };
        const reply = await at.call('GET', '/api', { token: tokenOf(role), headers });
        if (wanted > index) challenged(reply);
        else assert.equal((reply.json()['identity'] as Record<string, unknown>)['role'], name);
      }
      const lowered = await at.call('GET', '/api/keys', {
        token: tokenOf(role),
        headers: { 'x-gateway-role': 'viewer' },
      });
      refused(lowered, 403, 'forbidden');
    }
  });

  it('SC-64 lets a token for automation do only what both its scopes and its owner allow', async () => {
    const owner = tokenOf('operator');
    const scopes = Object.entries(permissions).filter(
      ([name, { scope }]) => scope && roleHas('operator', name),
    );
    for (const [scope] of scopes) {
      const made = await at.call('POST', '/api/tokens', {
        token: owner,
        body: { name: `only ${scope}`, scopes: [scope] },
      });
      assert.equal(made.status, 200, made.text);
      const token = String(firstResult(made)['token']);
      for (const operation of operations) {
        const { permission, title } = operation;
        if (permission === null || operation.method === 'POST' || operation.streams) continue;
        const { method, path, body } = harmless(operation);
        const reply = await at.call(method, path, { token, ...(body === undefined ? {} : { body }) });
        if (!holdsPermission('operator', [scope], permission)) refused(reply, 403, 'forbidden');
        else if (!isOfOthers(operation, 'operator'))
          assert.ok(
            [200, 400, 404].includes(reply.status),
            `${title} with ${scope}: ${reply.status} ${reply.text}`,
          );
      }
      assert.equal(
        (await at.call('DELETE', `/api/tokens/${firstResult(made)['id']}`, { token: owner })).status,
        204,
      );
    }
  });

  it('SC-34 shows only declared fields, and to each caller only permitted ones', async () => {
    const document = (await at.call('GET', '/api/openapi.json', { token: tokenOf('admin') })).json();
    const { schemas } = document['components'] as { schemas: Record<string, { properties: object }> };
    const lists = operations.filter(
      ({ action, method, path }) =>
        method === 'GET' && action === null && !path.includes('{') && path.split('/').length === 3,
    );
    let rows = 0;
    for (const { item, path, permission } of lists) {
      if (permission === null || item === null) continue;
      const declared = new Set([...Object.keys(schemas[item]?.properties ?? {}), 'href', 'actions']);
      for (const role of roles.filter((one) => roleHas(one, permission))) {
        const reply = await at.call('GET', `${path}?expand=resources&limit=20`, { token: tokenOf(role) });
        assert.equal(reply.status, 200, reply.text);
        for (const row of reply.json()['resources'] as object[]) {
          rows += 1;
          for (const name of Object.keys(row))
            assert.ok(declared.has(name), `${path} shows ${name} to ${role}`);
        }
        assert.doesNotMatch(
          reply.text,
          /\$scrypt\$|"(password|password_hash|credential_version|secret|api_key)":/,
        );
      }
    }
    assert.ok(rows > 10, `${rows} rows were seen`);
  });
});
