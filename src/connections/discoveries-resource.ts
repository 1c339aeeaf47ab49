import { z } from 'zod';
import type { Listening } from '../http/outbound/outbound.ts';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { isBuiltIn } from '../providers/provider.ts';
import { newConnectionOf } from './checked-input.ts';
import { type Discovery, discover, type SetVariables } from './discovery.ts';
import { discoveryRow } from './schema.ts';
import type { connectionStore } from './store.ts';

export interface DiscoveriesInput {
  connections: Pick<ReturnType<typeof connectionStore>, 'add' | 'list'>;
  setVariables: SetVariables;
  /** The value of an environment variable; undefined when unset or empty. */
  readVariable(name: string): string | undefined;
  listening: Listening;
}

/** How long an offer stands that was shown. */
const LISTED_MS = 60_000;

/**
 * What the gateway's machine has to offer: keys in its environment, model servers. Nothing of it is used without
 * confirmation.
 */
export function discoveriesResource(input: DiscoveriesInput): Resource {
  const { connections, listening, readVariable, setVariables } = input;
  const offered = async (): Promise<Discovery[]> => {
    const connected = new Set((await connections.list()).map(({ provider }) => provider));
    const discoveries = await discover(setVariables);
    return discoveries.filter(({ provider }) => !isBuiltIn(provider) && !connected.has(provider.id));
  };
  /** What was last listed: who takes an offer need not wait until everything is looked for again. */
  let listed: { rows: readonly Row[]; until: number } = { rows: [], until: 0 };
  const list = async (): Promise<Row[]> => {
    const rows = (await offered()).map(rowOf);
    listed = { rows, until: performance.now() + LISTED_MS };
    return rows;
  };
  const find = async (id: string): Promise<Row | null> => {
    if (performance.now() < listed.until) {
      const row = listed.rows.find((one) => one.id === id);
      const isConnected = (await connections.list()).some(({ provider }) => provider === id);
      if (row !== undefined && !isConnected) return row;
    }
    return (await list()).find((row) => row.id === id) ?? null;
  };
  return {
    name: 'discoveries',
    title: 'Discoveries',
    summary:
      'Providers with a key in the environment of the gateway, and model servers on its machine, that are not connected yet.',
    record: discoveryRow,
    read: 'connections:create',
    list,
    find,
    actions: {
      connect: {
        summary: 'Makes a connection to it, with the key from the environment if there is one.',
        permission: 'connections:create',
        input: z.strictObject({}),
        preview: async ({ id }) => ({ success: true, message: `"${id}" would be connected` }),
        async run({ id, variable }) {
          const key = typeof variable === 'string' ? readVariable(variable) : undefined;
          if (typeof variable === 'string' && key === undefined)
            throw new GatewayError('conflict', `The variable ${variable} is not set any more`);
          const connectionInput = { provider: id, ...(key === undefined ? {} : { api_key: key }) };
          const record = await connections.add(newConnectionOf(connectionInput, listening));
          return {
            success: true,
            message: `"${record.name}" is connected`,
            result: { connection_id: record.id },
          };
        },
      },
    },
  };
}

function rowOf(discovery: Discovery): Row {
  const { kind, provider } = discovery;
  return {
    id: provider.id,
    name: provider.name,
    source: kind,
    variable: kind === 'environment' ? discovery.variable : null,
    url: kind === 'local' ? discovery.url : null,
  };
}
