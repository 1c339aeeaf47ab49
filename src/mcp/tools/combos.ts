import { z } from 'zod';
import { pageOf } from '../api.ts';
import { tool } from '../tool.ts';

export const listCombos = tool({
  name: 'list_combos',
  title: 'List combos',
  description:
    'The combos: named sets of models with a strategy to choose among them. The active one is what the model "auto" means.',
  input: z.object({}),
  permission: 'combos:read',
  effect: 'reads',
  async run(_, api) {
    const attributes = ['name', 'strategy', 'active', 'targets'];
    const { rows, total } = await pageOf(api, '/combos', { attributes, limit: 200 });
    return { total, combos: rows };
  },
});

export const switchCombo = tool({
  name: 'switch_combo',
  title: 'Switch combo',
  description:
    'Makes a combo the one that the model "auto" stands for, for everybody, from the next request on.',
  input: z.object({ combo: z.string().min(1).max(200).describe('name or id of the combo') }),
  permission: 'combos:operate',
  effect: 'replaces',
  async run({ combo }, api) {
    const { message } = await api.post(`/combos/${encodeURIComponent(combo)}`, { action: 'activate' });
    return { message };
  },
});
