import { patchOf } from '../../../connections/checked-input.ts';
import { rowOfConnection } from '../../../connections/connection-row.ts';
import { type ConnectionChange, connectionChange } from '../../../connections/schema.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import type { Context } from '../../context.ts';
import {
  changeableConnections,
  listeningAt,
  namedConnection,
  testDocument,
  testLine,
  testStored,
} from '../../setup/connect.ts';
import { credentialFlags, readCredential } from '../../setup/credential.ts';
import { usageError } from '../../terminal/failure.ts';

export const providerEditCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [
    { name: 'base-url', value: 'URL', summary: 'base URL of the API; `default` is the provider’s own' },
    ...credentialFlags,
    {
      name: 'default-model',
      value: 'MODEL',
      summary: 'a model to offer even when the provider lists none; `none` removes it',
    },
    {
      name: 'priority',
      value: 'N',
      summary: 'priority among several accounts, -1000 to 1000, highest first (default 0)',
    },
    {
      name: 'prompt-cache-marks',
      value: 'STATE',
      choices: ['on', 'off'],
      summary: 'whether to mark what Anthropic keeps in its prompt cache',
    },
    {
      name: 'billing',
      value: 'KIND',
      choices: ['metered', 'plan'],
      summary:
        'metered: the provider charges by use; plan: its price is fixed, and costs are shown as the value of the plan',
    },
    {
      name: 'test',
      summary: 'test the connection afterwards; exit 1 when the test fails (the change stays)',
    },
  ],
  needs: 'store',
  about:
    'Changes only what you name by a flag; a running gateway uses the change at once. A stored key is never sent to another server: with a new --base-url, give its key too.',
  examples: [
    {
      command: 'gateway provider edit work --api-key-env NEW_KEY --test',
      does: 'another key for the same account',
    },
    { command: 'gateway provider edit gpu --base-url http://gpu2.local:8000/v1', does: 'the server moved' },
  ],
  run: async (options, context) => {
    const record = await namedConnection(options, context);
    const change = await changeOf(options, context);
    const stored = await changeableConnections(context);
    const patch = patchOf(record, change, await listeningAt(context));
    const { api_key, ...shown } = change;
    const input = { ...shown, ...(api_key === undefined ? {} : { api_key: true }) };
    const entry = { action: 'connections.update', target: record.id, input };
    await audited(context, entry, () => stored.update(record.id, patch));
    const result = options.on('test') ? await testStored(record, context) : null;
    const fresh = (await stored.find(record.id)) ?? record;
    const row = rowOfConnection(fresh);
    const message = `Changed the connection "${fresh.name}".`;
    context.io.result(result === null ? row : { ...row, test: testDocument(fresh, result) }, () =>
      result === null ? message : `${message}\n${testLine(fresh, result)}`,
    );
    return result === null || result.valid ? 0 : 1;
  },
};

/** @throws a usage error when nothing is changed, or a value is not allowed */
async function changeOf(options: Options, context: Context): Promise<ConnectionChange> {
  const [baseUrl, defaultModel] = [options.text('base-url'), options.text('default-model')];
  const marks = options.text('prompt-cache-marks');
  const billing = options.text('billing');
  const priority = options.text('priority');
  const apiKey = await readCredential(options, context);
  const change: ConnectionChange = {};
  if (baseUrl !== undefined) change.base_url = baseUrl === 'default' ? null : baseUrl;
  if (defaultModel !== undefined) change.default_model = defaultModel === 'none' ? null : defaultModel;
  if (priority !== undefined) change.priority = Number(priority);
  if (billing !== undefined) change.billing = billing === 'plan' ? 'plan' : 'metered';
  if (marks !== undefined) change.prompt_cache_marks = marks === 'on';
  if (apiKey !== null) change.api_key = apiKey;
  if (Object.keys(change).length === 0)
    throw usageError('Nothing to change: name a flag such as --base-url, --api-key-env or --priority');
  const parsed = connectionChange.safeParse(change);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw usageError(`--${String(issue?.path[0]).replaceAll('_', '-')}: ${issue?.message ?? 'is not valid'}`);
}
