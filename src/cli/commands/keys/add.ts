import { limitedKeys } from '../../../budgets/key-limits.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { keyFlags, newKeyOf } from '../../resources/key-input.ts';
import { offerToolSetup } from '../../tools/offer.ts';

export const keysAddCommand: Command = {
  arguments: [{ name: 'name', summary: 'what the key is for, e.g. laptop', required: true }],
  flags: keyFlags,
  needs: 'store',
  about:
    'A running gateway accepts the key at once. On a terminal you are asked whether installed coding tools shall use it.',
  examples: [
    { command: 'gateway keys add laptop', does: 'a key for everything' },
    {
      command: 'gateway keys add ci --models "openai/*,demo/echo" --expires 2027-01-31',
      does: 'a narrow key',
    },
    {
      command: 'gateway keys add ci --owner ann --team core --label env=ci',
      does: 'a key whose requests are counted for ann, core and env=ci',
    },
    {
      command: 'gateway keys add agent --budget-usd 5 --budget-period day --rpm 60',
      does: 'a key that spends at most 5 USD a day',
    },
  ],
  run: async (options, context) => {
    const input = newKeyOf(options);
    const store = await context.store();
    const entry = { action: 'keys.create', target: input.name, input };
    const { key, row } = await audited(context, entry, () => limitedKeys(store, context.now).create(input));
    const { id, name, ...rest } = row;
    context.io.result({ id, name, key, ...rest }, () => key);
    if (context.io.json) return 0;
    context.io.note(`Key "${input.name}" made. It is shown this once only.`);
    await offerToolSetup(key, context);
    return 0;
  },
};
