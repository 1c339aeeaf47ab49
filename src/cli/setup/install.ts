import { hashPassword } from '../../access/passwords/password.ts';
import { passwordProblem as problemOf } from '../../access/passwords/policy.ts';
import { userStore } from '../../access/users/users.ts';
import { newConnectionOf } from '../../connections/checked-input.ts';
import type { ConnectionRecord } from '../../connections/schema.ts';
import type { Provider } from '../../providers/provider.ts';
import { audited, newConnectionEntry } from '../audit.ts';
import type { Context } from '../context.ts';
import { changeableConnections, connections, listeningAt, testStored } from './connect.ts';

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
  const wanted = newConnectionOf(
    { provider: provider.id, name, base_url, api_key, default_model },
    await listeningAt(context),
  );
  return audited(context, newConnectionEntry(wanted), () => stored.add(wanted));
}

export interface Tested {
  record: ConnectionRecord;
  result: Awaited<ReturnType<typeof testStored>>;
}

/** Tests a connection and reads its record again, which then says how the test went. */
export async function testNew(record: ConnectionRecord, context: Context): Promise<Tested> {
  const result = await testStored(record, context);
  return { record: (await (await connections(context)).find(record.id)) ?? record, result };
}

/** What is left to do, as commands. */
export function nextSteps(running: boolean, hasKey: boolean): string[] {
  return [
    ...(running ? [] : ['gateway serve']),
    ...(hasKey ? [] : ['gateway keys add NAME']),
    'gateway models',
    'gateway test',
  ];
}
