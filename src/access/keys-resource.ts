import type { Action, Outcome, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { rowOfKey } from './key-row.ts';
import { keyChange, keyRow, newKeyInput } from './schema.ts';
import type { KeyPatch, keyStore } from './store.ts';

export interface KeysInput {
  keys: ReturnType<typeof keyStore>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The gateway keys. The text of one is in the answer that makes it, and nowhere else. */
export function keysResource({ keys, now }: KeysInput): Resource {
  const find = async (idOrName: string): Promise<Row | null> => {
    const record = await keys.find(idOrName);
    return record === null ? null : rowOfKey(record, now());
  };
  const change = async (row: Row, patch: KeyPatch): Promise<Row> => {
    const changed = (await keys.update(row.id, patch)) ? await find(row.id) : null;
    if (changed === null) throw gone(row);
    return changed;
  };
  return {
    name: 'keys',
    title: 'Gateway keys',
    summary: 'Keys with which tools and programs ask for models. They open nothing of the management API.',
    record: keyRow,
    read: 'keys:read',
    list: async () => (await keys.list()).map((record) => rowOfKey(record, now())),
    find,
    create: {
      permission: 'keys:create',
      perMinute: 300,
      input: newKeyInput,
      async run(input) {
        const { cache_ttl_seconds, expires_at, models, name } = newKeyInput.parse(input);
        const expiresAt = futureTime(expires_at ?? null, now());
        const { key, record } = await keys.add({
          ...{ name, models: models ?? null, expiresAt },
          cacheTtlSeconds: cache_ttl_seconds ?? null,
        });
        return { row: rowOfKey(record, now()), secret: { key } };
      },
    },
    update: {
      permission: 'keys:update',
      input: keyChange,
      run: (row, input) => change(row, patchOf(row, input, now())),
    },
    remove: {
      permission: 'keys:delete',
      async run(row) {
        if (!(await keys.remove(row.id))) throw gone(row);
      },
    },
    actions: {
      enable: switchTo(false, change),
      disable: switchTo(true, change),
      rotate: {
        summary: 'Gives the key another text, shown this once. The old one stops working at once.',
        permission: 'keys:update',
        preview: async (row) => done(row, 'would get another text, and the old one would stop working'),
        async run(row) {
          const key = await keys.rotate(row.id);
          if (key === null) throw gone(row);
          return { ...done(row, 'has another text, which is shown this once'), result: { key } };
        },
      },
    },
    // A key that is in use could never be changed with If-Match, did its last use count.
    revisionOf: ({ last_used_at: _, ...row }) => JSON.stringify(row),
  };
}

function switchTo(disabled: boolean, change: (row: Row, patch: KeyPatch) => Promise<Row>): Action {
  const state = disabled ? 'disabled' : 'enabled';
  return {
    summary: disabled ? 'Refuses the key from now on.' : 'Lets the key in again.',
    permission: 'keys:update',
    possible: (row) => row['disabled'] !== disabled,
    preview: async (row) => done(row, `would be ${state}`),
    async run(row) {
      await change(row, { disabled });
      return done(row, `is ${state}`);
    },
  };
}

function patchOf(row: Row, input: Record<string, unknown>, now: number): KeyPatch {
  const { expires_at, ...rest } = keyChange.parse(input);
  const patch: KeyPatch = {};
  if (rest.name !== undefined) patch.name = rest.name;
  if (rest.models !== undefined) patch.models = rest.models;
  if (rest.disabled !== undefined) patch.disabled = rest.disabled;
  if (rest.cache_ttl_seconds !== undefined) patch.cacheTtlSeconds = rest.cache_ttl_seconds;
  // An expired key may be sent back as it was read, to change something else.
  if (expires_at !== undefined && expires_at !== row['expires_at'])
    patch.expiresAt = futureTime(expires_at, now);
  return patch;
}

/** @throws GatewayError for a time that is past */
function futureTime(text: string | null, now: number): number | null {
  if (text === null) return null;
  const at = Date.parse(text);
  if (at > now) return at;
  throw new GatewayError('invalid_request', `expires_at must be in the future, and ${text} is not`, {
    param: 'expires_at',
  });
}

function done(row: Row, what: string): Outcome {
  return { success: true, message: `The key "${String(row['name'])}" ${what}` };
}

function gone(row: Row): GatewayError {
  return new GatewayError('not_found', `The key "${String(row['name'])}" was removed meanwhile`);
}
