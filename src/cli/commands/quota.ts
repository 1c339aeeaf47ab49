import { z } from 'zod';
import { quotaRow } from '../../health/schema.ts';
import type { Command } from '../command.ts';
import { act, collection } from '../gateway/api.ts';
import { localTime } from '../terminal/text.ts';

type Quota = z.infer<typeof quotaRow>;
type Line = Pick<Quota['limits'][number], 'name' | 'model' | 'left' | 'resets_at'> & {
  connection: string;
  amount: string;
};

export const quotaCommand: Command = {
  arguments: [],
  flags: [{ name: 'refresh', summary: 'ask the providers that report a balance for it now' }],
  needs: 'server',
  about:
    'Shows limits from the headers of the last answers, and the remaining balance of providers that report it (OpenRouter, DeepSeek, Moonshot), which the gateway asks every 15 minutes. Providers that report nothing are in the JSON document without limits.',
  examples: [
    { command: 'gateway quota --refresh', does: 'what is left at this moment' },
    { command: 'gateway quota --json', does: '{"quota":[{"connection","headroom","limits":[…],…}]}' },
  ],
  run: async (options, context) => {
    const gateway = await context.gateway();
    if (options.on('refresh')) await act(gateway, 'quota', 'refresh');
    const quota = z.array(quotaRow).parse(await collection(gateway, 'quota'));
    const lines = quota.flatMap(linesOf);
    for (const { balance, connection } of quota)
      if (balance !== null && balance.error !== null) context.io.note(`${connection}: ${balance.error}`);
    if (lines.length === 0) context.io.note('No provider has reported its limits yet.');
    context.io.result({ quota }, () =>
      context.io.table<Line>(
        [
          { title: 'CONNECTION', cell: ({ connection }) => connection },
          { title: 'LIMIT', cell: ({ name }) => name },
          { title: 'MODEL', cell: ({ model }) => model ?? '-' },
          {
            title: 'LEFT',
            cell: ({ amount }) => amount,
            align: 'right',
            style: ({ left }) => (left === 0 ? 'red' : null),
          },
          {
            title: 'RESETS',
            cell: ({ resets_at }) => (resets_at === null ? '-' : localTime(Date.parse(resets_at))),
          },
        ],
        lines,
      ),
    );
    return 0;
  },
};

/** The limits of an account, and its money. */
function linesOf({ balance, connection, limits }: Quota): Line[] {
  const money = (balance?.amounts ?? []).map(({ currency, limit, remaining }) => {
    const left = limit === null || limit <= 0 ? (remaining > 0 ? null : 0) : remaining / limit;
    const amount = limit === null ? remaining.toFixed(2) : `${remaining.toFixed(2)} of ${limit.toFixed(2)}`;
    return { connection, name: `money (${currency})`, model: null, left, amount, resets_at: null };
  });
  return [...limits.map((limit) => ({ ...limit, connection, amount: leftOf(limit) })), ...money];
}

function leftOf({ left, limit, remaining }: Quota['limits'][number]): string {
  if (limit !== null && remaining !== null) return `${remaining} of ${limit}`;
  if (remaining !== null) return String(remaining);
  return left === null ? '-' : `${Math.round(left * 100)} %`;
}
