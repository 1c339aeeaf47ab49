import { openAccessTokens } from '../../connections/credentials/access-tokens.ts';
import type { ConnectionRecord } from '../../connections/schema.ts';
import { connectionStore } from '../../connections/store.ts';
import type { ConnectionTest } from '../../connections/testing/test-connection.ts';
import { testConnection } from '../../connections/testing/test-connection.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { readRunFile } from '../../run-file.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import { failure } from '../terminal/failure.ts';
import { count, printable } from '../terminal/text.ts';
import { providerOf } from './provider-choice.ts';

/** How long a provider may take to answer a test. */
const testTimeoutMs = 15_000;

/** The connections, to be read. */
export async function connections(context: Context): Promise<ReturnType<typeof connectionStore>> {
  const store = await context.store();
  return connectionStore(store, (await context.sealingKey()).key);
}

/** The same for adding and changing them: the first credential makes the key that encrypts it. */
export async function changeableConnections(context: Context): Promise<ReturnType<typeof connectionStore>> {
  return connectionStore(await context.store(), (await context.usableKey()).key);
}

/** Where the gateway of this data directory listens, as far as one runs. No connection may lead there. */
export async function listeningAt(context: Context): Promise<Listening> {
  const run = readRunFile(await context.dataDir());
  return () => run;
}

/** The records, without opening any credential and without creating anything. */
export async function connectionRecords(context: Context): Promise<ConnectionRecord[]> {
  return (await context.existingStore()) === null ? [] : (await connections(context)).list();
}

/** The connection that a command names. @throws a failure when there is none of that id or name */
export async function namedConnection(options: Options, context: Context): Promise<ConnectionRecord> {
  const selector = options.argument('connection') ?? '';
  const records = await connectionRecords(context);
  const record = records.find(({ id }) => id === selector) ?? records.find(({ name }) => name === selector);
  if (record === undefined) throw noConnection(selector);
  return record;
}

export function noConnection(selector: string): Error {
  const hint = '`gateway providers list` shows what there is';
  return failure(1, 'not_found', `There is no connection "${printable(selector)}": ${hint}`);
}

/** Sends a test to the provider of a stored connection and writes down how it went. */
export async function testStored(record: ConnectionRecord, context: Context): Promise<ConnectionTest> {
  const provider = providerOf(record.provider);
  const stored = await connections(context);
  const open = await stored.findOpen(record.id);
  if (open === null)
    throw failure(1, 'not_found', `The connection "${record.name}" was removed in the meantime.`);
  const tokens = openAccessTokens(await context.store(), (await context.sealingKey()).key);
  const result = await testConnection(open, provider, {
    timeoutMs: testTimeoutMs,
    tokens,
    mayAskModel: true,
  });
  await stored.saveTest(record.id, result);
  return result;
}

export function testDocument(record: ConnectionRecord, result: ConnectionTest) {
  return {
    connection: { id: record.id, provider: record.provider, name: record.name },
    valid: result.valid,
    error: result.error,
    status_code: result.statusCode,
    latency_ms: Math.round(result.latencyMs),
    models: result.models === null ? null : result.models.length,
  };
}

/** One line about a test, for people. */
export function testLine(record: ConnectionRecord, result: ConnectionTest): string {
  if (!result.valid) return `${record.name}: failed: ${result.error ?? 'no reason was given'}`;
  const models = result.models === null ? '' : `, ${count(result.models.length, 'model')}`;
  return `${record.name}: ok in ${Math.round(result.latencyMs)} ms${models}`;
}
