import { z } from 'zod';
import { pageOf, quoted } from '../api.ts';
import { tool } from '../tool.ts';

export const listModels = tool({
  name: 'list_models',
  title: 'List models',
  description:
    'The models, combos and aliases that tools can ask this gateway for, with context windows and prices in USD per million tokens.',
  input: z.object({
    search: z.string().max(200).optional().describe('part of a model id, such as "sonnet"'),
    provider: z.string().max(100).optional().describe('only the models of this provider, such as "openai"'),
    limit: z.int().min(1).max(500).default(100),
  }),
  permission: 'models:read',
  effect: 'reads',
  async run({ limit, provider, search }, api) {
    const filters = [
      ...(search === undefined ? [] : [`id=${quoted(`*${search}*`)}`]),
      ...(provider === undefined ? [] : [`provider==${quoted(provider)}`]),
    ];
    const attributes = ['id', 'kind', 'provider', 'context_window', 'input_usd', 'output_usd', 'deprecated'];
    const { rows, total } = await pageOf(api, '/models', { filters, attributes, limit });
    return { total, models: rows };
  },
});
