import { LEAST_LEDGER_DAYS } from '../../../config.ts';
import { prunable, pruneLedger, pruneTime } from '../../../ledger/retention/prune.ts';
import { GatewayError } from '../../../lib/error.ts';
import { reusableBytes } from '../../../store/free-pages.ts';
import { recordCommand } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure, usageError } from '../../terminal/failure.ts';
import { count } from '../../terminal/text.ts';

const DAY_TEXT_END = 10;
const NOTED_MS = 1000;

export const storagePruneCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'older-than',
      value: 'DAYS',
      summary: `days for which requests stay, ${LEAST_LEDGER_DAYS} or more (default: ledger.retention_days)`,
    },
    { name: 'dry-run', summary: 'only say what would be removed' },
    { name: 'yes', short: 'y', summary: 'do not ask' },
  ],
  needs: 'store',
  about: `Removes the records of requests that began before a day of UTC, also while a gateway runs, after the sums of their hours and days were put into an archive. Reports by provider, model, format, outcome and tier keep their whole hours; reports by connection, combo, key, owner, team and tag keep their days of UTC, so reports of these in another time zone or by the hour no longer have the removed requests. A month that budgets count is never cut, so ${LEAST_LEDGER_DAYS} days is the least. A command that is cut off can be repeated. The file in the data directory does not shrink; later records take the place.`,
  examples: [
    { command: 'gateway storage prune --dry-run', does: 'with ledger.retention_days' },
    { command: 'gateway storage prune --older-than 90 --yes --json', does: 'in a script' },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const days = daysOf(options.text('older-than')) ?? (await context.config()).ledgerDays;
    if (days === null)
      throw usageError('Say --older-than DAYS, or set ledger.retention_days: requests are kept for ever');
    const store = await context.existingStore();
    if (store === null)
      throw failure(
        1,
        'not_found',
        `There is no database in ${await context.dataDir()}, so nothing to remove`,
      );
    const before = pruneTime(days, now());
    const { oldest, requests } = await prunable(store, before);
    const end = new Date(before).toISOString();
    const summary = { before: end, oldest: oldest === null ? null : new Date(oldest).toISOString() };
    if (options.on('dry-run') || requests === 0) {
      const answer = { dry_run: options.on('dry-run'), ...summary, requests, removed: 0 };
      io.result({ ...answer, reusable_bytes: await reusableBytes(store) }, () =>
        requests === 0
          ? `No request is older than ${end.slice(0, DAY_TEXT_END)}.`
          : `${count(requests, 'request')} from before ${end.slice(0, DAY_TEXT_END)} would be removed.`,
      );
      return 0;
    }
    await confirmDestruction(
      `Remove the records of ${count(requests, 'request')} from before ${end.slice(0, DAY_TEXT_END)}?`,
      options,
      io,
    );
    const entry = { action: 'ledger.prune', target: null, input: { before: end } };
    await recordCommand(context, { ...entry, outcome: 'intended' });
    let removed = 0;
    let notedAt = performance.now();
    try {
      for (let done = false; !done; ) {
        const sofar = removed;
        const pruned = await pruneLedger({
          store,
          before,
          alone: (work) => work(),
          progress(more) {
            removed = sofar + more;
            if (performance.now() - notedAt < NOTED_MS) return;
            notedAt = performance.now();
            io.note(`${removed} of ${count(requests, 'request')} removed …`);
          },
        });
        if (pruned === null) throw busy();
        done = pruned.done;
      }
    } finally {
      if (removed > 0) await recordCommand(context, { ...entry, after: { before: end, requests: removed } });
    }
    io.result(
      { dry_run: false, ...summary, requests, removed, reusable_bytes: await reusableBytes(store) },
      () => `Removed the records of ${count(removed, 'request')} from before ${end.slice(0, DAY_TEXT_END)}.`,
    );
    return 0;
  },
};

function daysOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const days = Number(text);
  if (!Number.isInteger(days) || days < LEAST_LEDGER_DAYS)
    throw usageError(
      `--older-than is a whole number of days, ${LEAST_LEDGER_DAYS} or more: budgets count whole months`,
    );
  return days;
}

function busy(): GatewayError {
  return new GatewayError(
    'conflict',
    'A gateway or another command is removing old requests right now: try again in a quarter of an hour',
  );
}
