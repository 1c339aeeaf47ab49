import type { Listening } from '../http/outbound/outbound.ts';
import type { Action, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import { type LoginActionInput, loginAction } from './accounts/login-action.ts';
import { logoutAction } from './accounts/logout.ts';
import { newConnectionOf, patchOf } from './checked-input.ts';
import { rowOfConnection } from './connection-row.ts';
import type { Grants } from './credentials/grants.ts';
import type { Logins } from './oauth/logins.ts';
import {
  type ConnectionRecord,
  connectionChange,
  connectionRow,
  newConnectionInput,
  type ShownHealth,
} from './schema.ts';
import type { connectionStore } from './store.ts';
import { probeConnection } from './testing/probe.ts';
import type { ConnectionTest, TestOptions } from './testing/test-connection.ts';

export interface ConnectionsInput {
  connections: ReturnType<typeof connectionStore>;
  tokens: TestOptions['tokens'];
  logins: Logins;
  grants: Pick<Grants, 'find' | 'end'>;
  /** Begins the task that ends with a login. Returns its id. */
  beginLoginTask: LoginActionInput['beginTask'];
  health: ConnectionHealth;
  /** How long an upstream may take to answer a test, in milliseconds. Default 15,000. */
  testTimeoutMs?: number;
  /** Where this gateway listens, which no connection may lead to; nowhere when absent. */
  listening?: Listening;
}

/** The health of the connections, to read and to reset. */
export interface ConnectionHealth {
  of(connectionId: string): ShownHealth;
  /** Forgets what is held against it. False when there was nothing. */
  reset(connectionId: string): boolean;
}

type Connections = Pick<ConnectionsInput, 'connections' | 'health'>;
/** Asks the upstream of a connection, keeps how it went, and returns it. */
type Probe = (row: Row) => Promise<ConnectionTest>;

/** The accounts and keys at providers. A credential goes in and never comes out. */
export function connectionsResource(input: ConnectionsInput): Resource {
  const { connections, grants, health, beginLoginTask, logins, tokens } = input;
  const { listening = () => null, testTimeoutMs = 15_000 } = input;
  const rowOf = (record: ConnectionRecord) => withHealth(record, health);
  const probe: Probe = async (row) => {
    const options = { timeoutMs: testTimeoutMs, tokens, listening, mayAskModel: true };
    const test = await probeConnection(connections, row.id, options);
    if (test === null) throw removedMeanwhile(row);
    return test;
  };
  return {
    name: 'connections',
    title: 'Connections',
    summary: 'Accounts and keys at providers. Their credentials can be set and are never shown.',
    record: connectionRow,
    read: 'connections:read',
    // An address may have a key in its query.
    guarded: {
      base_url: 'connections:operate',
      last_error: 'connections:operate',
      models_error: 'connections:operate',
      oauth: 'connections:operate',
    },
    list: async () => (await connections.list()).map(rowOf),
    find: (idOrName) => find(input, idOrName),
    create: {
      permission: 'connections:create',
      input: newConnectionInput,
      async run(body) {
        const record = await connections.add(newConnectionOf(newConnectionInput.parse(body), listening));
        return { row: rowOf(record) };
      },
    },
    update: {
      permission: 'connections:update',
      input: connectionChange,
      async run(row, change) {
        const record = await connections.find(row.id);
        if (record === null) throw removedMeanwhile(row);
        await connections.update(record.id, patchOf(record, connectionChange.parse(change), listening));
        const changed = await find(input, record.id);
        if (changed === null) throw removedMeanwhile(row);
        return changed;
      },
    },
    remove: {
      permission: 'connections:delete',
      async run(row) {
        if (!(await connections.remove(row.id))) throw removedMeanwhile(row);
      },
    },
    actions: {
      test: testAction(probe),
      discover: discoverAction(probe),
      login: loginAction({ connections, logins, beginTask: beginLoginTask }),
      logout: logoutAction(grants),
      enable: switchTo(true, input),
      disable: switchTo(false, input),
      reset: resetAction(health),
    },
  };
}

async function find({ connections, health }: Connections, idOrName: string): Promise<Row | null> {
  const record = await connections.find(idOrName);
  return record === null ? null : withHealth(record, health);
}

function withHealth(record: ConnectionRecord, health: ConnectionHealth): Row {
  return { ...rowOfConnection(record), ...health.of(record.id) };
}

function testAction(probe: Probe): Action {
  return {
    summary: 'Sends one request to check the address and the credential. `result.valid` is the result.',
    permission: 'connections:operate',
    beside: true,
    perMinute: 60,
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be asked once` }),
    async run(row) {
      const test = await probe(row);
      // A test that finds a fault has done what it was asked for.
      return { success: true, message: outcomeOf(row, test), result: testResult(test) };
    },
  };
}

function discoverAction(probe: Probe): Action {
  return {
    summary: 'Asks the upstream for its models and offers those from now on.',
    permission: 'connections:operate',
    beside: true,
    perMinute: 60,
    possible: (row) => typeof findProvider(String(row['provider']))?.modelsPath === 'string',
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be asked for its models` }),
    async run(row) {
      const test = await probe(row);
      const result = { ...testResult(test), listed: test.models };
      return { success: test.valid && test.models !== null, message: outcomeOf(row, test), result };
    },
  };
}

function switchTo(active: boolean, { connections }: Connections): Action {
  const state = active ? 'enabled' : 'disabled';
  return {
    summary: active ? 'Enables the connection again.' : 'Disables the connection; open requests continue.',
    permission: 'connections:operate',
    possible: (row) => row['active'] !== active,
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be ${state}` }),
    async run(row) {
      await connections.update(row.id, { active });
      if ((await connections.find(row.id)) === null) throw removedMeanwhile(row);
      return { success: true, message: `${nameOf(row)} is ${state}` };
    },
  };
}

function resetAction(health: ConnectionHealth): Action {
  const heldAgainst = (row: Row) => {
    const { condition, model_conditions } = health.of(row.id);
    return condition.state !== 'ready' || model_conditions.length > 0;
  };
  return {
    summary: 'Clears its failures, so that it gets requests again at once.',
    permission: 'connections:operate',
    possible: heldAgainst,
    preview: async (row) => ({ success: true, message: `${nameOf(row)} would be asked again at once` }),
    async run(row) {
      health.reset(row.id);
      return { success: true, message: `${nameOf(row)} is asked again at once` };
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
  const listed =
    models === null ? '' : ` and listed ${models.length} ${models.length === 1 ? 'model' : 'models'}`;
  return `${nameOf(row)} answered in ${Math.round(latencyMs)} ms${listed}`;
}

function nameOf(row: Row): string {
  return `The connection "${String(row['name'])}"`;
}

function removedMeanwhile(row: Row): GatewayError {
  return new GatewayError('not_found', `${nameOf(row)} was removed in the meantime`);
}
