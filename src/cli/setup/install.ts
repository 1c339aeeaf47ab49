import { hashPassword } from '../../access/passwords/password.ts';
import { passwordProblem as problemOf } from '../../access/passwords/policy.ts';
import { userStore } from '../../access/users/users.ts';
import { limitedKeys } from '../../budgets/key-limits.ts';
import { loggingOut, logoutMessage } from '../../connections/accounts/logout.ts';
import { newConnectionOf, patchOf } from '../../connections/checked-input.ts';
import type { ConnectionRecord } from '../../connections/schema.ts';
import type { Provider } from '../../providers/provider.ts';
import { audited, newConnectionEntry } from '../audit.ts';
import type { Context } from '../context.ts';
import { toolsToSetUp } from '../tools/offer.ts';
import { changeableConnections, connectionRecords, connections, listeningAt, testStored } from './connect.ts';

/** Steps that `setup` takes, with or without a person at the terminal. */

/** The sentence that says what is wrong with a password of `admin`, or undefined. */
export function passwordProblem(password: string): string | undefined {
  return problemOf(password, 'admin');
}

export async function setPassword(password: string, context: Context): Promise<void> {
  const users = userStore(await context.store());
  const hash = await hashPassword(password);
  await audited(context, { action: 'users.reset_password', target: 'admin' }, () =>
    users.setAdminPassword(hash),
  );
}

export async function hasPassword(context: Context): Promise<boolean> {
  return userStore(await context.store()).hasAdmin();
}

export interface NewConnection {
  provider: Provider;
  name: string;
  baseUrl: string | null;
  apiKey: string | null;
  defaultModel: string | null;
}

export async function connect(
  { apiKey: api_key, baseUrl: base_url, defaultModel: default_model, name, provider }: NewConnection,
  context: Context,
): Promise<ConnectionRecord> {
  const stored = await changeableConnections(context);
  const newConnection = newConnectionOf(
    { provider: provider.id, name, base_url, api_key, default_model },
    await listeningAt(context),
  );
  return audited(context, newConnectionEntry(newConnection), () => stored.add(newConnection));
}

export interface ConnectionTestResult {
  record: ConnectionRecord;
  result: Awaited<ReturnType<typeof testStored>>;
}

/** Tests a connection and reads its record again, which then says how the test went. */
export async function testNew(record: ConnectionRecord, context: Context): Promise<ConnectionTestResult> {
  const result = await testStored(record, context);
  return { record: (await (await connections(context)).find(record.id)) ?? record, result };
}

/**
 * The same, for a script that may run again: a connection of this name and provider gets what is given now, and is as if
 * it had just been made.
 * @throws a failure where a connection of another provider has the name
 */
export async function connectAgain(connection: NewConnection, context: Context): Promise<ConnectionRecord> {
  const existing = (await connectionRecords(context)).find(({ name }) => name === connection.name);
  if (existing === undefined || existing.provider !== connection.provider.id)
    return connect(connection, context);
  const { apiKey: api_key, baseUrl: base_url, defaultModel: default_model } = connection;
  const change = { base_url, default_model, ...(api_key === null ? {} : { api_key }) };
  const patch = patchOf(existing, change, await listeningAt(context));
  const stored = await changeableConnections(context);
  const shown = { base_url, default_model, ...(api_key === null ? {} : { api_key: true }) };
  const entry = { action: 'connections.update', target: existing.id, input: shown };
  await audited(context, entry, () => stored.update(existing.id, patch));
  return (await stored.find(existing.id)) ?? existing;
}

/** Puts another credential in place of the one that a connection has. */
export async function changeKey(
  record: ConnectionRecord,
  apiKey: string | null,
  context: Context,
): Promise<void> {
  const stored = await changeableConnections(context);
  const entry = { action: 'connections.update', target: record.id, input: { api_key: true } };
  await audited(context, entry, () => stored.update(record.id, { apiKey }));
}

/**
 * Removes a connection, and ends its login at the provider where it has one.
 * @returns false when it was removed meanwhile
 */
export async function removeConnection(record: ConnectionRecord, context: Context): Promise<boolean> {
  const stored = loggingOut(await connections(context), (left) => context.io.note(logoutMessage(left)));
  const entry = { action: 'connections.delete', target: record.id, before: { name: record.name } };
  return audited(context, entry, () => stored.remove(record.id));
}

export interface NewKey {
  id: string;
  name: string;
  /** Its text, which is kept nowhere. */
  key: string;
}

/** Makes a gateway key without limits. */
export async function newKey(name: string, context: Context): Promise<NewKey> {
  const entry = { action: 'keys.create', target: name, input: { name } };
  const keys = limitedKeys(await context.store(), context.now);
  const { key, row } = await audited(context, entry, () => keys.create({ name }));
  return { id: row.id, name, key };
}

/** What is left to do, as commands: start the gateway, make a key, point the tools that are installed here at it. */
export async function nextSteps(
  { hasKey, running }: { running: boolean; hasKey: boolean },
  context: Context,
): Promise<string[]> {
  const tools = await toolsToSetUp(context);
  return [
    ...(running ? [] : ['gateway serve']),
    ...(hasKey ? [] : ['gateway keys add NAME']),
    ...tools.map(({ id }) => `gateway setup-${id}`),
    'gateway models',
    'gateway test',
  ];
}
