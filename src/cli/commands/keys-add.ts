import { keyStore } from '../../access/store.ts';
import { audited } from '../audit.ts';
import type { Command, Flag, Options } from '../command.ts';
import { usageError } from '../failure.ts';
import { iso } from '../text.ts';

const notYet = 'is not enforced by this version, so it is refused rather than ignored: leave it out';

const unenforced: readonly Flag[] = [
  { name: 'budget-usd', value: 'N', summary: 'budget', refused: `--budget-usd ${notYet}` },
  { name: 'budget-period', value: 'PERIOD', summary: 'budget period', refused: `--budget-period ${notYet}` },
  { name: 'rpm', value: 'N', summary: 'requests per minute', refused: `--rpm ${notYet}` },
  { name: 'tpm', value: 'N', summary: 'tokens per minute', refused: `--tpm ${notYet}` },
];

export const keysAddCommand: Command = {
  arguments: [{ name: 'name', summary: 'what the key is for, e.g. laptop', required: true }],
  flags: [
    {
      name: 'models',
      value: 'LIST',
      summary: 'models it may use, comma separated; a trailing * matches any rest',
    },
    { name: 'expires', value: 'TIME', summary: 'when it stops working: ISO 8601, e.g. 2027-01-31' },
    ...unenforced,
  ],
  needs: 'store',
  about: 'A running gateway accepts the key at once.',
  examples: [
    { command: 'gateway keys add laptop', does: 'a key for everything' },
    {
      command: 'gateway keys add ci --models "openai/*,demo/echo" --expires 2027-01-31',
      does: 'a narrow key',
    },
  ],
  run: async (options, context) => {
    const name = (options.argument('name') ?? '').trim();
    if (name === '') throw usageError('A key needs a name, e.g. `gateway keys add laptop`');
    const models = modelList(options.text('models'));
    const expiresAt = expiry(options, context.now());
    const keys = keyStore(await context.store());
    const input = { name, models, expires_at: iso(expiresAt) };
    const { record, key } = await audited(context, { action: 'keys.create', target: name, input }, () =>
      keys.add({ name, models, expiresAt }),
    );
    const document = {
      id: record.id,
      name: record.name,
      key,
      prefix: record.prefix,
      models: record.models,
      created_at: iso(record.createdAt),
      expires_at: iso(record.expiresAt),
    };
    context.io.result(document, () => key);
    if (!context.io.json) context.io.note(`Key "${record.name}" made. It is shown this once only.`);
    return 0;
  },
};

function modelList(text: string | undefined): string[] | null {
  if (text === undefined) return null;
  const models = text
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  if (models.length === 0)
    throw usageError('--models names no model: give ids such as openai/gpt-4o or openai/*');
  return models;
}

function expiry(options: Options, now: number): number | null {
  const text = options.text('expires');
  if (text === undefined) return null;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw usageError(`--expires must be an ISO 8601 time such as 2027-01-31, not "${text}"`);
  if (at <= now) throw usageError(`--expires must be in the future, and ${text} is past`);
  return at;
}
