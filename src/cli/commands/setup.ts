import { keyStore } from '../../access/store.ts';
import { rowOfConnection } from '../../connections/connection-row.ts';
import { type Discovery, discover } from '../../connections/discovery.ts';
import type { Command, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { connectionRecords, testDocument, testLine } from '../setup/connect.ts';
import { credentialFlags, readCredential } from '../setup/credential.ts';
import { discoveryDocument, discoveryText } from '../setup/discovery-text.ts';
import {
  type ConnectionTestResult,
  connectAgain,
  hasPassword,
  type NewKey,
  newKey,
  nextSteps,
  passwordProblem,
  setPassword,
  testNew,
} from '../setup/install.ts';
import { baseUrlFor, connectable, needsKey, providerOf } from '../setup/provider-choice.ts';
import { runWizard } from '../setup/wizard.ts';
import { usageError } from '../terminal/failure.ts';

/** Where `--api-key` may stand instead, for a setup without a person. */
const keyVariable = 'GATEWAY_API_KEY';
const defaultProvider = 'openai';
/** Any of these means that a provider is to be added. */
const providerFlags = ['provider', 'provider-name', 'provider-base-url', 'default-model'] as const;

export const setupCommand: Command = {
  arguments: [],
  flags: [
    { name: 'password-stdin', summary: 'read the admin password from stdin (preferred)' },
    {
      name: 'password',
      value: 'PASSWORD',
      summary: 'the admin password; other users of this machine can see it',
    },
    { name: 'add-provider', summary: 'connect a provider' },
    {
      name: 'provider',
      value: 'ID',
      names: 'provider',
      summary: `which provider (default ${defaultProvider})`,
    },
    { name: 'provider-name', value: 'NAME', summary: "the connection's name (default: the provider's id)" },
    { name: 'provider-base-url', value: 'URL', summary: 'base URL of its API, if not the default' },
    { name: 'default-model', value: 'MODEL', summary: 'a model to offer even when the provider lists none' },
    ...credentialFlags.map((flag) =>
      flag.name === 'api-key' ? { ...flag, summary: `${flag.summary} (env ${keyVariable})` } : flag,
    ),
    { name: 'test-provider', summary: 'test the connection; exit 1 when the test fails (it is kept)' },
    { name: 'key', value: 'NAME', summary: 'make a gateway key of this name, unless there is one' },
  ],
  needs: 'store',
  about:
    'Asks on a terminal when these flags are missing. Keys found in the environment and local model servers are offered, never used silently. At the end it offers to point installed coding tools at the gateway. You can run it again with flags: it updates what exists.',
  examples: [
    { command: 'gateway setup', does: 'the wizard' },
    {
      command: 'GATEWAY_API_KEY=… gateway setup --non-interactive --provider openai --test-provider --key ci',
      does: 'in a script or a container',
    },
    {
      command: 'gateway setup --non-interactive --password-stdin < password.txt',
      does: 'only the admin password',
    },
  ],
  run: async (options, context) => {
    if (context.io.interactive && !givesAnything(options)) return runWizard(context);
    const password = await passwordOf(options, context);
    const connectionChoice = await connectionFromFlags(options, context);
    const keyName = options.text('key') ?? null;
    if (password === null && connectionChoice === null && keyName === null)
      throw usageError(
        'Nothing to set up: give --password-stdin, --add-provider or --key NAME, or run `gateway setup` on a terminal',
      );
    if (password !== null) await setPassword(password, context);
    const record = connectionChoice === null ? null : await connectAgain(connectionChoice, context);
    const tested = record !== null && options.on('test-provider') ? await testNew(record, context) : null;
    const key = keyName === null ? null : await keyOf(keyName, context);
    await report({ passwordSet: password !== null, record: tested?.record ?? record, tested, key }, context);
    return tested === null || tested.result.valid ? 0 : 1;
  },
};

function addsProvider(options: Options): boolean {
  return options.on('add-provider') || providerFlags.some((flag) => options.text(flag) !== undefined);
}

function givesAnything(options: Options): boolean {
  const password = options.text('password') !== undefined || options.on('password-stdin');
  return password || addsProvider(options) || options.text('key') !== undefined;
}

/** A key of this name. The text of one that is there already is not known any more. */
async function keyOf(
  name: string,
  context: Context,
): Promise<NewKey | (Omit<NewKey, 'key'> & { key: null })> {
  const existingKey = await keyStore(await context.store()).find(name);
  return existingKey === null
    ? newKey(name, context)
    : { id: existingKey.id, name: existingKey.name, key: null };
}

async function passwordOf(options: Options, context: Context): Promise<string | null> {
  const direct = options.text('password');
  const stdin = options.on('password-stdin');
  if (direct !== undefined && stdin) throw usageError('Give only one of --password and --password-stdin');
  if (stdin && options.on('api-key-stdin')) {
    throw usageError(
      'Only one secret can come from stdin: give the other by --api-key-env or in a second command',
    );
  }
  if (direct === undefined && !stdin) return null;
  if (direct !== undefined) {
    context.io.note(
      'Warning: a password on the command line is visible to other users; --password-stdin is not.',
    );
  }
  const password = direct ?? (await context.io.readStdin());
  const problem = passwordProblem(password);
  if (problem !== undefined) throw usageError(problem);
  return password;
}

async function connectionFromFlags(options: Options, context: Context) {
  if (!addsProvider(options)) {
    if (options.on('test-provider'))
      throw usageError('--test-provider tests what --add-provider adds: give both');
    return null;
  }
  const provider = connectable(options.text('provider') ?? defaultProvider);
  const apiKey = (await readCredential(options, context)) ?? (await context.variable(keyVariable)) ?? null;
  const baseUrlFlag = options.text('provider-base-url');
  const baseUrl = baseUrlFor(provider, baseUrlFlag, '--provider-base-url', apiKey);
  if (apiKey === null && needsKey(provider)) {
    throw usageError(`${provider.name} needs a key: pass --api-key, or set ${keyVariable}`);
  }
  return {
    provider,
    name: options.text('provider-name') ?? provider.id,
    baseUrl,
    apiKey,
    defaultModel: options.text('default-model') ?? null,
  };
}

interface SetupResult {
  passwordSet: boolean;
  record: ConnectionTestResult['record'] | null;
  tested: ConnectionTestResult | null;
  /** Asked for; its text is null where there was one of that name. */
  key: (Omit<NewKey, 'key'> & { key: string | null }) | null;
}

async function report({ key, passwordSet, record, tested }: SetupResult, context: Context): Promise<void> {
  const discoveries = await discover(context.setVariables);
  const connected = new Set((await connectionRecords(context)).map(({ provider }) => provider));
  const offered = discoveries.filter(({ provider }) => !connected.has(provider.id));
  const hasKey = (await keyStore(await context.store()).counts()).total > 0;
  const next = await nextSteps({ running: (await context.findGateway()) !== null, hasKey }, context);
  const dataDir = await context.dataDir();
  const document = {
    data_dir: dataDir,
    password_set: passwordSet,
    has_password: await hasPassword(context),
    connection: record === null ? null : rowOfConnection(record),
    test: tested === null ? null : testDocument(tested.record, tested.result),
    key,
    found: offered.map(discoveryDocument),
    next,
  };
  context.io.result(document, () =>
    [
      `Data directory ${dataDir}`,
      ...(passwordSet ? ['The admin password is set.'] : []),
      ...(record === null ? [] : [`Connected ${providerOf(record.provider).name} as "${record.name}".`]),
      ...(tested === null ? [] : [testLine(tested.record, tested.result)]),
      ...(key === null ? [] : [keyLine(key)]),
      ...offeredLines(offered),
      'Next:',
      ...next.map((command) => `  ${command}`),
    ].join('\n'),
  );
}

function keyLine({ key, name }: NonNullable<SetupResult['key']>): string {
  return key === null
    ? `There is a gateway key "${name}" already; \`gateway keys rotate ${name}\` gives it another text.`
    : `The gateway key "${name}", shown this once only: ${key}`;
}

function offeredLines(discoveries: readonly Discovery[]): string[] {
  if (discoveries.length === 0) return [];
  return [
    'Found on this machine, not used unless you add it:',
    ...discoveries.map((one) => `  ${discoveryText(one)}`),
  ];
}
