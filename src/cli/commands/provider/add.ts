import { newConnectionOf } from '../../../connections/checked-input.ts';
import { rowOfConnection } from '../../../connections/connection-row.ts';
import type { ConnectionRecord } from '../../../connections/schema.ts';
import type { Provider } from '../../../providers/provider.ts';
import { audited, newConnectionEntry } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import type { Context } from '../../context.ts';
import {
  changeableConnections,
  listeningAt,
  testDocument,
  testLine,
  testStored,
} from '../../setup/connect.ts';
import { credentialFlags, readCredential } from '../../setup/credential.ts';
import { oauthFlags, readOAuth } from '../../setup/oauth-flags.ts';
import { baseUrlFor, baseUrlWithParameters, connectable, needsKey } from '../../setup/provider-choice.ts';
import { usageError } from '../../terminal/failure.ts';

export const providerAddCommand: Command = {
  arguments: [
    {
      name: 'provider',
      names: 'provider',
      summary: 'id of the provider, as `providers available` lists it',
      required: true,
    },
  ],
  flags: [
    {
      name: 'name',
      value: 'NAME',
      summary: "the connection's name, first part of its model ids (default: the provider's id)",
    },
    { name: 'base-url', value: 'URL', summary: 'base URL of the API, if not the provider’s default' },
    {
      name: 'parameter',
      value: 'NAME=VALUE',
      kind: 'list',
      summary: 'part of the address of your account there, e.g. account_id=… or region=… (may be repeated)',
    },
    ...credentialFlags,
    ...oauthFlags,
    { name: 'default-model', value: 'MODEL', summary: 'a model to offer even when the provider lists none' },
    {
      name: 'prompt-cache-marks',
      value: 'STATE',
      choices: ['on', 'off'],
      summary: 'whether to mark what Anthropic keeps in its prompt cache (default on)',
    },
    {
      name: 'billing',
      value: 'KIND',
      choices: ['metered', 'plan'],
      summary:
        'metered: the provider charges by use; plan: its price is fixed, and costs are shown as the value of the plan (default metered)',
    },
    { name: 'test', summary: 'test the connection; exit 1 when the test fails (it is kept)' },
  ],
  needs: 'store',
  about: 'A running gateway uses the connection at once.',
  examples: [
    { command: 'gateway provider add openai --api-key-env OPENAI_API_KEY --test', does: 'models openai/…' },
    {
      command: 'pass show work/anthropic | gateway provider add anthropic --name work --api-key-stdin',
      does: 'models work/…',
    },
    {
      command:
        'gateway provider add openai-compatible --base-url https://ai.example.com --auth oauth --issuer https://login.example.com --client-id modelgate',
      does: 'people log in; next `gateway provider login`',
    },
    {
      command:
        'gateway provider add cloudflare-workers-ai --parameter account_id=ACCOUNT --api-key-env CLOUDFLARE_API_KEY',
      does: 'an address with a part of its own',
    },
    {
      command: 'gateway provider add openai-compatible --name gpu --base-url http://gpu.local:8000/v1',
      does: 'your own server',
    },
  ],
  run: async (options, context) => {
    const provider = connectable(options.argument('provider') ?? '');
    const oauth = await readOAuth(options, context);
    const apiKey = oauth === null ? await keyFor(provider, options, context) : null;
    const baseUrl = addressOf(provider, options, apiKey);
    const stored = await changeableConnections(context);
    const newConnection = newConnectionOf(
      {
        provider: provider.id,
        base_url: baseUrl,
        api_key: apiKey,
        oauth,
        default_model: options.text('default-model') ?? null,
        name: options.text('name') ?? provider.id,
        prompt_cache_marks: options.text('prompt-cache-marks') !== 'off',
        billing: options.text('billing') === 'plan' ? 'plan' : 'metered',
      },
      await listeningAt(context),
    );
    const record = await audited(context, newConnectionEntry(newConnection), () => stored.add(newConnection));
    if (!options.on('test')) return added(record, provider, context);
    const result = await testStored(record, context);
    const fresh = (await stored.find(record.id)) ?? record;
    context.io.result(
      { ...rowOfConnection(fresh), test: testDocument(fresh, result) },
      () => `Connected ${provider.name} as "${fresh.name}".\n${testLine(fresh, result)}`,
    );
    return result.valid ? 0 : 1;
  },
};

function addressOf(provider: Provider, options: Options, apiKey: string | null): string | null {
  const whole = options.text('base-url');
  const parameters = options.texts('parameter');
  if (parameters.length === 0) return baseUrlFor(provider, whole, '--base-url', apiKey);
  if (whole !== undefined) throw usageError('Give --base-url or --parameter, not both');
  return baseUrlWithParameters(provider, parameters);
}

function added(record: ConnectionRecord, provider: Provider, { io }: Context): 0 {
  io.result(rowOfConnection(record), () => `Connected ${provider.name} as "${record.name}".`);
  if (!io.json && record.authType === 'oauth')
    io.note(`Log in with \`gateway provider login ${record.name}\`.`);
  else if (!io.json) io.note(`Test it with \`gateway providers test ${record.name}\`.`);
  return 0;
}

async function keyFor(provider: Provider, options: Options, context: Context): Promise<string | null> {
  const credential = await readCredential(options, context);
  if (credential !== null || !needsKey(provider)) return credential;
  if (!context.io.interactive) {
    throw usageError(
      `${provider.name} needs a key: pass --api-key-env VAR, --api-key-stdin, --api-key-file FILE or --api-key KEY`,
    );
  }
  const typed = await context.io.ask.secret(`Key for ${provider.name}`, {
    check: (text) => (text.trim() === '' ? 'Type or paste the key' : undefined),
  });
  if (typed === null) throw usageError('Cancelled, nothing was stored.');
  return typed.trim();
}
