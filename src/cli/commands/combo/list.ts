import type { Command } from '../../command.ts';
import { type ComboRow, comboRows, targetText } from '../../resources/combos.ts';

export const comboListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  examples: [{ command: 'gateway combo list --json', does: '{"combos":[…],"active":NAME|null}' }],
  run: async (_, context) => {
    const { io } = context;
    const combos = await comboRows(context);
    const active = combos.find((combo) => combo.active)?.name ?? null;
    io.result({ combos, active }, () => {
      if (combos.length === 0)
        return 'No combos yet: make one with `gateway combo create NAME --target MODEL`.';
      return io.table<ComboRow>(
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'AUTO', cell: (combo) => (combo.active ? 'yes' : '') },
          { title: 'STRATEGY', cell: ({ strategy }) => strategy },
          { title: 'TARGETS', cell: ({ targets }) => targets.map(targetText).join(', ') },
          {
            title: 'STATE',
            cell: (combo) => state(combo),
            style: (combo) => (state(combo) === 'ok' ? null : 'red'),
          },
        ],
        combos,
      );
    });
    return 0;
  },
};

function state({ targets }: ComboRow): string {
  const broken = targets.filter(({ problem }) => problem !== null).length;
  return broken === 0 ? 'ok' : `${broken} of ${targets.length} targets unusable`;
}
