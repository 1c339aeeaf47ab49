import { z } from 'zod';
import { type ApiBody, pageOf, withoutLinks } from '../api.ts';
import { time, tool } from '../tool.ts';

export const listKeys = tool({
  name: 'list_keys',
  title: 'List gateway keys',
  description:
    'The keys with which tools authenticate at the gateway, with their limits. Never the keys themselves.',
  input: z.object({ limit: z.int().min(1).max(500).default(100) }),
  permission: 'keys:read',
  effect: 'reads',
  async run({ limit }, api) {
    const { rows, total } = await pageOf(api, '/keys', { limit });
    return { total, keys: rows };
  },
});

export const createKey = tool({
  name: 'create_key',
  title: 'Create a gateway key',
  description:
    'Makes a key for a tool, agent or person, with limits if wanted. The answer has the key; it is shown this once.',
  input: z.object({
    name: z.string().min(1).max(200).describe('what it is for, such as "laptop"'),
    models: z.array(z.string()).max(100).optional().describe('models it may use; a trailing * fits any rest'),
    expires_at: time.optional().describe('ISO 8601; default: never'),
    budget_usd: z.number().positive().optional().describe('limit in USD for each period'),
    budget_period: z.enum(['day', 'week', 'month']).optional().describe('default: month'),
    rpm: z.int().positive().optional().describe('requests a minute'),
    tpm: z.int().positive().optional().describe('tokens a minute'),
  }),
  permission: 'keys:create',
  effect: 'adds',
  async run(input, api) {
    const { results } = await api.post('/keys', input);
    const [made] = Array.isArray(results) ? (results as ApiBody[]) : [];
    return withoutLinks(made ?? {});
  },
});
