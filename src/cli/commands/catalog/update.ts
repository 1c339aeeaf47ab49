import { removeInstalledDataSet } from '../../../catalog/data-set/installed.ts';
import { updateDataSet } from '../../../catalog/data-set/update.ts';
import { noteRevision } from '../../../store/revision.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../terminal/failure.ts';
import { count } from '../../terminal/text.ts';

export const catalogUpdateCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'from',
      value: 'FILE|URL',
      summary: 'a copy of https://models.dev/api.json (default: that address)',
    },
    { name: 'reset', summary: 'go back to the data that came with this version' },
  ],
  needs: 'store',
  about:
    'Downloads newer facts and prices of models. They are verified and kept in DATA_DIR/catalog. A running gateway uses them at once; recorded requests keep their cost. Providers and their addresses change only with a new version of the program. Nothing is updated automatically.',
  examples: [
    { command: 'gateway catalog update', does: 'what models.dev publishes now' },
    {
      command: 'gateway catalog update --from api.json --json',
      does: '{"source","models","added","repriced",…}',
    },
    { command: 'gateway catalog update --reset', does: 'undoes it' },
  ],
  run: async (options, context) => {
    const from = options.text('from');
    if (!options.on('reset')) return update(from, context);
    if (from !== undefined) throw usageError('Give --from or --reset, not both');
    return reset(context);
  },
};

async function update(from: string | undefined, context: Context): Promise<0> {
  const dataDir = await context.dataDir();
  const store = await context.store();
  const entry = { action: 'catalog.update', target: 'data-set', input: { from: withoutQuery(from) } };
  const { changes, head, refused } = await audited(context, entry, () =>
    updateDataSet({ dataDir, from, now: context.now() }),
  );
  await noteRevision(store);
  await context.settle();
  const { models, providers, source } = head;
  context.io.result({ source, providers, models, ...changes, refused }, () =>
    [
      `${source}: ${count(models, 'model')} at ${count(providers, 'provider')}.`,
      `${changes.added} new, ${changes.removed} gone, ${changes.repriced} with another price.`,
      ...refused.slice(0, 5).map((each) => `Left out: ${each}`),
    ].join('\n'),
  );
  return 0;
}

/** An address may hold a secret behind its path, which is not recorded. */
function withoutQuery(from: string | undefined): string | null {
  return from?.split(/[?#]/, 1)[0] ?? null;
}

async function reset(context: Context): Promise<0> {
  const dataDir = await context.dataDir();
  const store = await context.store();
  const entry = { action: 'catalog.reset', target: 'data-set' };
  const removed = await audited(context, entry, () => removeInstalledDataSet(dataDir));
  await noteRevision(store);
  await context.settle();
  context.io.result({ reset: removed }, () =>
    removed ? 'The data that came with this version is in force.' : 'No other data was installed.',
  );
  return 0;
}
