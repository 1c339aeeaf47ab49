import type { z } from 'zod';
import {
  deadLetterRecord,
  deadLettersRecord,
  letterCount,
} from '../../../management/events/dead-letter-schema.ts';
import type { Command, Options } from '../../command.ts';
import type { Context } from '../../context.ts';
import { requestEvents } from '../../events/events-api.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { usageError } from '../../terminal/failure.ts';
import { count, localTime, printable } from '../../terminal/text.ts';

type Letter = z.output<typeof deadLetterRecord>;

export const eventsDeadLettersCommand: Command = {
  arguments: [
    {
      name: 'action',
      summary: 'list (default), show, replay or purge',
      required: false,
      choices: ['list', 'show', 'replay', 'purge'],
    },
    { name: 'id', summary: 'dead letters, by their ids', required: false, rest: true },
  ],
  flags: [
    { name: 'trigger', value: 'ID', summary: 'only those of this trigger' },
    {
      name: 'cesql',
      value: 'EXPRESSION',
      summary: 'only those whose attributes match it, including `dlreason` and the like',
    },
    { name: 'all', summary: 'replay or purge all of them' },
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      kind: 'count',
      summary: 'list this many, oldest first (default 100)',
    },
    { name: 'after', value: 'ID', summary: 'list those after this one' },
    { name: 'dry-run', summary: 'change nothing; only say how many would be affected' },
    { name: 'yes', short: 'y', summary: 'purge without asking' },
  ],
  needs: 'server',
  about:
    'A dead letter is an event that a trigger gave up. Replaying gives it to the trigger again, as a first attempt; purging deletes it for good.',
  examples: [
    { command: 'gateway events dead-letters', does: 'what failed, and why' },
    { command: 'gateway events dead-letters show d17 --json', does: 'one with its whole event' },
    {
      command: 'gateway events dead-letters replay --cesql "dlstatus = 503"',
      does: 'all that a receiver refused while it was down',
    },
    { command: 'gateway events dead-letters purge --trigger hook --yes', does: 'those of one trigger' },
  ],
  run: async (options, context) => {
    const ids = options.rest('id');
    switch (options.argument('action')) {
      case 'show':
        return show(ids, context);
      case 'replay':
        return change('replay', ids, options, context);
      case 'purge':
        return change('purge', ids, options, context);
      default:
        return list(options, context);
    }
  },
};

async function list(options: Options, context: Context): Promise<0> {
  const { io } = context;
  const query = new URLSearchParams();
  for (const name of ['trigger', 'cesql', 'after']) {
    const value = options.text(name);
    if (value !== undefined) query.set(name, value);
  }
  const limit = options.count('limit');
  if (limit !== undefined) query.set('limit', String(limit));
  const { body } = await requestEvents(context, `/dead-letters?${query}`, { method: 'GET' });
  const { count: total, next, resources } = deadLettersRecord.parse(body);
  if (next !== null) io.note(`There are more: --after ${next}`);
  io.result({ dead_letters: resources, count: total, next }, () => {
    if (resources.length === 0) return 'No dead letters.';
    return io.table<Letter>(
      [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'TIME', cell: ({ created_at }) => localTime(Date.parse(created_at)) },
        { title: 'TRIGGER', cell: ({ trigger }) => printable(trigger) },
        { title: 'TYPE', cell: ({ event }) => printable(String(event?.['type'] ?? '-')) },
        { title: 'REASON', cell: ({ reason }) => reason },
        { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts) },
        { title: 'ERROR', cell: ({ error }) => printable(error) },
      ],
      resources,
    );
  });
  return 0;
}

async function show([id, ...others]: readonly string[], context: Context): Promise<0> {
  if (id === undefined || others.length > 0) throw usageError('Name one dead letter');
  const { body } = await requestEvents(context, `/dead-letters/${encodeURIComponent(id)}`, { method: 'GET' });
  const letter = deadLetterRecord.parse(body);
  context.io.result(letter, () => JSON.stringify(letter, null, 2).split('\n').map(safeLine).join('\n'));
  return 0;
}

/** Safe for a terminal, with its indentation. */
function safeLine(line: string): string {
  return `${' '.repeat(line.length - line.trimStart().length)}${printable(line)}`;
}

async function change(
  action: 'replay' | 'purge',
  ids: readonly string[],
  options: Options,
  context: Context,
): Promise<0> {
  const trigger = options.text('trigger');
  const cesql = options.text('cesql');
  const all = options.on('all');
  if (ids.length === 0 && trigger === undefined && cesql === undefined && !all)
    throw usageError('Name ids, --trigger or --cesql, or say --all');
  const body = {
    ...(ids.length > 0 ? { ids } : {}),
    ...(trigger === undefined ? {} : { trigger }),
    ...(cesql === undefined ? {} : { cesql }),
    ...(all ? { all } : {}),
  };
  const ask = async (dryRun: boolean): Promise<number> => {
    const path = `/dead-letters:${action}${dryRun ? '?dry_run=true' : ''}`;
    return letterCount.parse((await requestEvents(context, path, { method: 'POST', body })).body).count;
  };
  const dryRun = options.on('dry-run');
  if (action === 'purge' && !dryRun) {
    const question = `Throw ${count(await ask(true), 'dead letter')} away for ever?`;
    await confirmDestruction(question, options, context.io);
  }
  const changed = await ask(dryRun);
  const verb = action === 'replay' ? 'replayed' : 'thrown away';
  context.io.result({ action, count: changed, dry_run: dryRun }, () =>
    dryRun
      ? `${count(changed, 'dead letter')} would be ${verb}.`
      : `${count(changed, 'dead letter')} ${changed === 1 ? 'was' : 'were'} ${verb}.`,
  );
  return 0;
}
