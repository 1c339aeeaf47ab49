import type { Action, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import { newConnectionOf, patchOf } from './checked-input.ts';
import { rowOfConnection } from './connection-row.ts';
import { probeConnection } from './probe.ts';
import { connectionChange, connectionRow, newConnectionInput } from './schema.ts';
import type { connectionStore } from './store.ts';
import type { ConnectionTest } from './test.ts';

export interface ConnectionsInput {
  connections: ReturnType<typeof connectionStore>;
  /** How long an upstream may take to answer a test, in milliseconds. Default 15,000. */
  testTimeoutMs?: number;
}

type Connections = ConnectionsInput['connections'];
/** Asks the upstream of a connection, keeps how it went, and returns it. */
type Probe = (row: Row) => Promise<ConnectionTest>;

/** The accounts and keys at providers. A credential goes in and never comes out. */
export function connectionsResource({ connections, testTimeoutMs = 15_000 }: ConnectionsInput): Resource {
  const probe: Probe = async (row) => {
    const test = await probeConnection(connections, row.id, testTimeoutMs);
    if (test === null) throw gone(row);
    return test;
  };
  return {
    name: 'connections',
    title: 'Connections',
    summary: 'Accounts and keys at providers. Their credentials can be set and are never shown.',
    record: connectionRow,
    read: 'connections:read',
    // An address may have a key in its query.
    guarded: { base_url: 'connections:operate', last_error: 'connections:operate' },
    list: async () => (await connections.list()).map(rowOfConnection),
    find: (idOrName) => find(connections, idOrName),
    create: {
      permission: 'connections:create',
      input: newConnectionInput,
      async run(input) {
        const record = await connections.add(newConnectionOf(newConnectionInput.parse(input)));
        return { row: rowOfConnection(record) };
      },
    },
    update: {
      permission: 'connections:update',
      input: connectionChange,
      async run(row, input) {
        const record = await connections.find(row.id);
        if (record === null) throw gone(row);
        await connections.update(record.id, patchOf(record, connectionChange.parse(input)));
        const changed = await find(connections, record.id);
        if (changed === null) throw gone(row);
        return changed;
      },
    },
    remove: {
      permission: 'connections:delete',
      async run(row) {
        if (!(await connections.remove(row.id))) throw gone(row);
      },
    },
    actions: {
      test: testAction(probe),
      discover: discoverAction(probe),
      enable: switchTo(true, connections),
      disable: switchTo(false, connections),
    },
  };
}

async function find(connections: Connections, idOrName: string): Promise<Row | null> {
  const record = await connections.find(idOrName);
  return record === null ? null : rowOfConnection(record);
}

function testAction(probe: Probe): Action {
  return {
    summary: 'Asks the upstream once, to see whether address and credential work.',
    permission: 'connections:operate',
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be asked once` }),
    async run(row) {
      const test = await probe(row);
      return { success: test.valid, message: outcomeOf(row, test), result: testResult(test) };
    },
  };
}

function discoverAction(probe: Probe): Action {
  return {
    summary: 'Asks the upstream which models it has, and offers those from now on.',
    permission: 'connections:operate',
    possible: (row) => typeof findProvider(String(row['provider']))?.modelsPath === 'string',
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be asked for its models` }),
    async run(row) {
      const test = await probe(row);
      const result = { ...testResult(test), listed: test.models };
      return { success: test.valid && test.models !== null, message: outcomeOf(row, test), result };
    },
  };
}

function switchTo(active: boolean, connections: Connections): Action {
  const state = active ? 'enabled' : 'disabled';
  return {
    summary: active ? 'Takes requests again.' : 'Takes no more requests; those under way go on.',
    permission: 'connections:operate',
    possible: (row) => row['active'] !== active,
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be ${state}` }),
    async run(row) {
      await connections.update(row.id, { active });
      if ((await connections.find(row.id)) === null) throw gone(row);
      return { success: true, message: `${nameOf(row)} is ${state}` };
    },
  };
}

function testResult({ error, latencyMs, models, statusCode, valid }: ConnectionTest) {
  return {
    valid,
    error,
    status_code: statusCode,
    latency_ms: Math.round(latencyMs),
    models: models === null ? null : models.length,
  };
}

function outcomeOf(row: Row, { error, latencyMs, models, valid }: ConnectionTest): string {
  if (!valid) return `${nameOf(row)} failed: ${error ?? 'no reason was given'}`;
  const listed = models === null ? '' : ` and listed ${models.length} models`;
  return `${nameOf(row)} answered in ${Math.round(latencyMs)} ms${listed}`;
}

function nameOf(row: Row): string {
  return `The connection "${String(row['name'])}"`;
}

function gone(row: Row): GatewayError {
  return new GatewayError('not_found', `${nameOf(row)} was removed meanwhile`);
}
