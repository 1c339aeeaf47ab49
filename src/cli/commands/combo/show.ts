import type { Command } from '../../command.ts';
import { type ComboRow, comboRow, targetText } from '../../resources/combos.ts';

export const comboShowCommand: Command = {
  arguments: [{ name: 'combo', names: 'combo', summary: 'name or id of the combo', required: true }],
  flags: [],
  needs: 'store',
  examples: [{ command: 'gateway combo show fast', does: 'its targets, and which cannot be asked' }],
  run: async (options, context) => {
    const row = await comboRow(options.argument('combo') ?? '', context);
    context.io.result(row, () => textOf(row));
    return 0;
  },
};

function textOf({ active, name, options, strategy, targets }: ComboRow): string {
  const lines = [
    `${name}: ${strategy}${active ? ', active: "auto" means it' : ''}`,
    ...targets.map(
      (target) => `  ${targetText(target)}${target.problem === null ? '' : `  (${target.problem})`}`,
    ),
    ...Object.entries(options).map(
      ([option, value]) => `  ${option.replaceAll('_', '-')}: ${valueText(value)}`,
    ),
  ];
  return lines.join('\n');
}

/** A value as its flag takes it; `-` where nothing was said. */
function valueText(value: boolean | number | null): string {
  if (value === null) return '-';
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}
