import { keyStore } from '../../access/store.ts';
import { rowOfConnection } from '../../connections/connection-row.ts';
import { type Discovery, discover } from '../../connections/discovery.ts';
import type { ConnectionRecord } from '../../connections/schema.ts';
import { allProviders } from '../../providers/index.ts';
import { isBuiltIn, type Provider } from '../../providers/provider.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../terminal/exit-code.ts';
import { failure, reportOf } from '../terminal/failure.ts';
import { offerToolSetup } from '../tools/offer.ts';
import { connectionRecords, testLine } from './connect.ts';
import { discoveryText } from './discovery-text.ts';
import {
  changeKey,
  connect,
  hasPassword,
  type NewConnection,
  newKey,
  nextSteps,
  passwordProblem,
  removeConnection,
  setPassword,
  testNew,
} from './install.ts';
import { baseUrlFor, needsKey } from './provider-choice.ts';
import { runSmokeTest } from './smoke-test.ts';

const smokeTimeoutMs = 60_000;

/** `gateway setup` with a person at the terminal. What was done before a cancel stays done. */
export async function runWizard(context: Context): Promise<ExitCode> {
  const { io } = context;
  io.note(`${io.paint('bold', 'Modelgate setup')}. Everything can be changed later; Ctrl+C leaves.\n`);
  const passwordSet = await passwordStep(context);
  await foundStep(context);
  await moreStep(context);
  const key = await keyStep(context);
  const running = await testStep(context);
  await offerToolSetup(key?.key ?? null, context);
  const records = await connectionRecords(context);
  const next = await nextSteps({ running, hasKey: key !== null || (await hasKeys(context)) }, context);
  const document = {
    data_dir: await context.dataDir(),
    password_set: passwordSet,
    connections: records.map(rowOfConnection),
    key,
    next,
  };
  io.result(document, () =>
    [
      ...(key === null ? [] : [`Your gateway key, shown this once only: ${key.key}`]),
      'Next:',
      ...next.map((command) => `  ${command}`),
    ].join('\n'),
  );
  return 0;
}

function answered<T>(answer: T | null): T {
  if (answer === null) throw failure(1, 'cancelled', 'Setup was left; what was entered before is kept.');
  return answer;
}

async function passwordStep(context: Context): Promise<boolean> {
  const { ask } = context.io;
  if (await hasPassword(context)) {
    if (!answered(await ask.confirm('An admin password exists. Replace it?', false))) return false;
  }
  const password = answered(
    await ask.secret('Admin password (empty: none yet; needed before other machines may connect)', {
      check: (text) => (text === '' ? undefined : passwordProblem(text)),
    }),
  );
  if (password === '') return false;
  answered(
    await ask.secret('The same password again', {
      check: (text) => (text === password ? undefined : 'That is not the same password'),
    }),
  );
  await setPassword(password, context);
  return true;
}

/** Offers what the machine already has; nothing is chosen beforehand. */
async function foundStep(context: Context): Promise<void> {
  const connected = new Set((await connectionRecords(context)).map(({ provider }) => provider));
  const discoveries = (await discover(context.setVariables)).filter(
    ({ provider }) => !connected.has(provider.id),
  );
  if (discoveries.length === 0) return;
  const chosen = answered(
    await context.io.ask.chooseMany(
      'Found on this machine. Connect any of them?',
      discoveries.map((one) => ({ value: one.provider.id, label: discoveryText(one) })),
    ),
  );
  for (const one of discoveries.filter(({ provider }) => chosen.includes(provider.id))) {
    await addAndTest(await connectionOf(one, context), context);
  }
}

async function connectionOf(discovery: Discovery, context: Context): Promise<NewConnection> {
  const { provider } = discovery;
  const apiKey =
    discovery.kind === 'environment' ? ((await context.variable(discovery.variable)) ?? null) : null;
  const baseUrl = provider.baseUrl === null ? await askBaseUrl(provider, context) : null;
  return { provider, name: provider.id, baseUrl, apiKey, defaultModel: null };
}

async function moreStep(context: Context): Promise<void> {
  const { ask } = context.io;
  while (answered(await ask.confirm('Connect a provider by entering its details?', false))) {
    const choices = allProviders()
      .filter((provider) => !isBuiltIn(provider))
      .map(({ id, name, category }) => ({ value: id, label: name, hint: category }));
    const id = answered(await ask.choose('Which provider?', choices));
    const provider = allProviders().find((candidate) => candidate.id === id);
    if (provider === undefined) continue;
    const name = answered(await ask.text('Name of the connection', { initial: id, check: required }));
    const baseUrl = provider.baseUrl === null ? await askBaseUrl(provider, context) : null;
    const apiKey = await askKey(provider, context);
    await addAndTest({ provider, name, baseUrl, apiKey, defaultModel: null }, context);
  }
}

function required(text: string): string | undefined {
  return text.trim() === '' ? 'This is needed' : undefined;
}

async function askBaseUrl(provider: Provider, { io }: Context): Promise<string> {
  const check = (text: string): string | undefined => {
    try {
      baseUrlFor(provider, text, '');
      return undefined;
    } catch (error) {
      return reportOf(error).message;
    }
  };
  const pattern = provider.baseUrlOf === undefined ? '' : `, e.g. ${provider.baseUrlOf}`;
  return answered(await io.ask.text(`Base URL of ${provider.name}${pattern}`, { check })).trim();
}

async function askKey(provider: Provider, { io }: Context): Promise<string | null> {
  if (provider.auth.kind === 'none') return null;
  const needed = needsKey(provider);
  const question = needed ? `Key for ${provider.name}` : `Key for ${provider.name} (empty: none)`;
  io.note(`Keys of ${provider.name} are made at ${provider.website}`);
  const key = answered(await io.ask.secret(question, needed ? { check: required } : {})).trim();
  return key === '' ? null : key;
}

/** A provider that cannot be connected ends its own step, not the setup. */
async function addAndTest(connection: NewConnection, context: Context): Promise<void> {
  try {
    const tested = await testNew(await connect(connection, context), context);
    context.io.note(testLine(tested.record, tested.result));
    if (!tested.result.valid) await mendStep(tested.record, connection.provider, context);
  } catch (error) {
    const { code, message } = reportOf(error);
    if (code === 'cancelled') throw error;
    context.io.note(`${connection.name}: ${message}`);
  }
}

/** Asks what becomes of a connection whose test failed, until it works or the person has had enough. */
async function mendStep(record: ConnectionRecord, provider: Provider, context: Context): Promise<void> {
  const { io } = context;
  const choices = [
    { value: 'again', label: 'Test again' },
    ...(provider.auth.kind === 'none' ? [] : [{ value: 'key', label: 'Enter another key' }]),
    { value: 'keep', label: 'Keep it as it is', hint: `gateway providers test ${record.name}` },
    { value: 'remove', label: 'Remove it' },
  ];
  for (;;) {
    const choice = answered(
      await io.ask.choose(`The connection "${record.name}" is kept. What now?`, choices),
    );
    if (choice === 'keep') return;
    if (choice === 'remove') {
      await removeConnection(record, context);
      return;
    }
    if (choice === 'key') await changeKey(record, await askKey(provider, context), context);
    const tested = await testNew(record, context);
    io.note(testLine(tested.record, tested.result));
    if (tested.result.valid) return;
  }
}

async function hasKeys(context: Context): Promise<boolean> {
  return (await keyStore(await context.store()).counts()).total > 0;
}

async function keyStep(context: Context) {
  const { ask } = context.io;
  const question = (await hasKeys(context))
    ? 'Make another gateway key?'
    : 'Make a gateway key for your tools?';
  if (!answered(await ask.confirm(question, !(await hasKeys(context))))) return null;
  const name = answered(await ask.text('Name of the key', { initial: 'default', check: required }));
  return newKey(name.trim(), context);
}

/** A request to the demo through the running gateway. True when one runs. */
async function testStep(context: Context): Promise<boolean> {
  const gateway = await context.findGateway();
  if (gateway === null) return false;
  const request = { model: 'demo/echo', stream: true, timeoutMs: smokeTimeoutMs };
  const { error, latencyMs } = await runSmokeTest(gateway, request, context);
  const outcome = error === null ? `ok in ${Math.round(latencyMs)} ms` : `failed: ${error}`;
  context.io.note(`Test request to demo/echo through ${gateway.url}: ${outcome}`);
  return true;
}
