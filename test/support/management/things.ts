import assert from 'node:assert/strict';
import { z } from 'zod';
import { type Permission, roleHas } from '../../../src/access/permissions.ts';
import type { Caller, Resource, Row } from '../../../src/http/resource.ts';
import { GatewayError } from '../../../src/lib/error.ts';
import { createKeyedMutex } from '../../../src/lib/keyed-mutex.ts';
import type { Answer } from '../../../src/management/answer.ts';
import type { Change, CollectionRequest } from '../../../src/management/collection/collection.ts';
import { serveResource } from '../../../src/management/collection/routes.ts';
import { createRateLimiter } from '../../../src/management/guard/rate-limiter.ts';

export const now = Date.parse('2026-11-21T10:00:00Z');

export function callerOf(role: 'viewer' | 'operator' | 'admin', passwordAt: number | null = now): Caller {
  return {
    userId: role,
    name: role,
    role,
    via: 'token',
    tokenId: 't',
    passwordAt,
    credentialVersion: 1,
    address: '127.0.0.1',
    requestId: 'r',
    can: (permission) => roleHas(role, permission),
    ended: false,
    narrowed: () => false,
    reaches: () => true,
  };
}

export const input = z.object({
  name: z.string().min(1),
  size: z.number().nullable().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  api_key: z.string().optional(),
  credentials: z.object({ parts: z.array(z.string()) }).optional(),
});

export const record = z.object({
  id: z.string(),
  guid: z.string(),
  name: z.string(),
  size: z.number().nullable(),
  labels: z.record(z.string(), z.string()),
  process: z.object({ pid: z.number() }),
  created_at: z.string(),
});

export const permission = (name: Permission): Permission => name;

/** Services in memory, with what a careless resource could have in its rows. */
export function things(rows: Map<string, Row>): Resource {
  const find = async (id: string) =>
    [...rows.values()].find((row) => row.id === id || row['guid'] === id) ?? null;
  return {
    name: 'things',
    title: 'Things',
    summary: 'For this test',
    record,
    read: permission('services:read'),
    guarded: { process: permission('services:operate') },
    list: async () => [...rows.values()],
    find,
    create: {
      permission: permission('keys:create'),
      input,
      async run(given) {
        const { api_key: _, ...members } = given;
        if (members['name'] === 'taken')
          throw new GatewayError('conflict', 'This name is taken', { param: 'name' });
        const made = { ...thing(`new-${rows.size}`), ...members };
        rows.set(made.id, made);
        return { row: made, secret: { key: 'shown-once' } };
      },
    },
    update: {
      permission: permission('services:update'),
      input: input.partial().extend({ process: z.object({ pid: z.number() }).optional() }),
      async run(row, { api_key: _, ...members }) {
        const after = { ...row, ...members };
        rows.set(row.id, after);
        return after;
      },
    },
    remove: {
      permission: permission('users:delete'),
      async run(row) {
        if (row.id === 'built-in') throw new GatewayError('conflict', 'This one stays');
        rows.delete(row.id);
      },
    },
    actions: {
      start: {
        summary: 'Starts it',
        permission: permission('services:operate'),
        input: z.object({ force: z.boolean().optional(), password: z.string().optional() }),
        possible: (row) => row['size'] !== 0,
        preview: async () => ({ success: true, message: 'would start' }),
        async run(row, given) {
          if (row.id === 'broken') throw new TypeError('a fault of our own');
          if (row.id === 'stuck') return { success: false, message: 'It does not start' };
          const result = { forced: given['force'] === true };
          return { success: true, message: 'Starting', taskId: 'task 1', result };
        },
      },
    },
  };
}

export function thing(id: string): Row {
  const row = { id, guid: `guid-${id}`, name: id, size: 1, labels: {}, process: { pid: 7 } };
  return { ...row, created_at: '2026-11-21T10:00:00Z', hash: 'never shown', href: 'nowhere' };
}

export function setUp(...ids: string[]) {
  const rows = new Map(ids.map((id) => [id, thing(id)]));
  const resource = things(rows);
  const changes: Change[] = [];
  const intents: Change[] = [];
  const reports: unknown[] = [];
  const failing = { audit: false };
  const context = {
    async record(change: Change) {
      if (failing.audit) throw new Error('the disk is full');
      (change.outcome === 'intended' ? intents : changes).push(change);
    },
    report: (error: unknown) => void reports.push(error),
    mutex: createKeyedMutex(),
    once: { answer: (_: unknown, run: () => Promise<Answer>) => run(), sweep: async () => {} },
    pace: createRateLimiter(() => now),
    now: () => now,
  };
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    more: Partial<CollectionRequest> = {},
  ): Promise<Answer> => {
    const [rest = '', query = ''] = path.split('?');
    return serveResource(context, {
      resource,
      method,
      body,
      headers: {},
      prefix: '/api',
      dryRun: false,
      caller: callerOf('admin'),
      rest: rest === '' ? [] : rest.split('/'),
      params: new URLSearchParams(query),
      ...more,
    });
  };
  return { ask, changes, failing, intents, reports, resource, rows };
}

export async function refused(asked: Promise<Answer>, status: number, param?: string): Promise<GatewayError> {
  const error = await asked.then(
    ({ body }) => assert.fail(`was answered ${JSON.stringify(body)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GatewayError, String(error));
  assert.equal(error.status, status, error.message);
  if (param !== undefined) assert.equal(error.param, param);
  return error;
}

export const bodyOf = ({ body }: Answer) => body as Record<string, unknown>;
export const resultsOf = ({ body }: Answer) => (body as { results: Record<string, unknown>[] }).results;
export const namesOf = (actions: unknown) => (actions as { name: string }[]).map(({ name }) => name);
