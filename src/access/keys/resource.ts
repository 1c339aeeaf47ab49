import { z } from 'zod';
import type { Action, Outcome, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { keyChange, keyRow, newKeyInput } from '../schema.ts';
import type { KeyPatch, keyStore } from '../store.ts';
import { addKey, keyPatch } from './input.ts';
import { keyPageQuery } from './page.ts';
import { rowOfKey } from './row.ts';

export interface KeysInput {
  keys: ReturnType<typeof keyStore>;
  /** The same, for reading what may take long. Default: the same. */
  reading?: Pick<ReturnType<typeof keyStore>, 'list' | 'page'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The gateway keys. The text of one is in the answer that makes it, and nowhere else. */
export function keysResource({ keys, now, reading = keys }: KeysInput): Resource {
  const find = async (idOrName: string): Promise<Row | null> => {
    const record = await keys.find(idOrName);
    return record === null ? null : rowOfKey(record, now());
  };
  const change = async (row: Row, patch: KeyPatch): Promise<Row> => {
    const changed = (await keys.update(row.id, patch)) ? await find(row.id) : null;
    if (changed === null) throw removedMeanwhile(row);
    return changed;
  };
  return {
    name: 'keys',
    title: 'Gateway keys',
    summary: 'Keys with which tools and programs use models. They give no access to the management API.',
    record: keyRow,
    read: 'keys:read',
    list: async () => (await reading.list()).map((record) => rowOfKey(record, now())),
    async page(query) {
      const pageQuery = keyPageQuery(query);
      if (pageQuery === null) return null;
      const { records, ...counts } = await reading.page(pageQuery);
      return { rows: records.map((record) => rowOfKey(record, now())), ...counts };
    },
    find,
    create: {
      permission: 'keys:create',
      perMinute: 300,
      input: newKeyInput,
      secret: z.object({ key: z.string().describe('The key, which is shown this once') }),
      async run(input) {
        const { key, record } = await addKey(keys, input, now());
        return { row: rowOfKey(record, now()), secret: { key } };
      },
    },
    update: {
      permission: 'keys:update',
      input: keyChange,
      run: (row, input) => change(row, keyPatch(row, input, now())),
    },
    remove: {
      permission: 'keys:delete',
      async run(row) {
        if (!(await keys.remove(row.id))) throw removedMeanwhile(row);
      },
    },
    actions: {
      enable: switchTo(false, change),
      disable: switchTo(true, change),
      rotate: {
        summary: 'Replaces the key by a new one, which is shown once. The old one stops working at once.',
        permission: 'keys:update',
        preview: async (row) => done(row, 'would get another text, and the old one would stop working'),
        async run(row) {
          const key = await keys.rotate(row.id);
          if (key === null) throw removedMeanwhile(row);
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
    summary: disabled ? 'Disables the key.' : 'Enables the key again.',
    permission: 'keys:update',
    possible: (row) => row['disabled'] !== disabled,
    preview: async (row) => done(row, `would be ${state}`),
    async run(row) {
      await change(row, { disabled });
      return done(row, `is ${state}`);
    },
  };
}

function done(row: Row, what: string): Outcome {
  return { success: true, message: `The key "${String(row['name'])}" ${what}` };
}

function removedMeanwhile(row: Row): GatewayError {
  return new GatewayError('not_found', `The key "${String(row['name'])}" was removed in the meantime`);
}
