import { z } from 'zod';
import { pageOf } from '../api.ts';
import { tool } from '../tool.ts';

const MOST_ROWS = 500;

export const health = tool({
  name: 'health',
  title: 'Health',
  description:
    'Whether the gateway works: its parts with their checks, and every connection to a provider with what requests met there (ready, cooling down, exhausted, broken).',
  input: z.object({}),
  permission: 'services:read',
  effect: 'reads',
  async run(_, api) {
    const services = await pageOf(api, '/services', {
      // Connections are services as well; their own collection says more of them.
      filters: ["kind!='provider_connection'"],
      attributes: ['name', 'state', 'state_reason', 'critical', 'health', 'last_error'],
      limit: MOST_ROWS,
    });
    if (!api.can('connections:read')) return { services: services.rows };
    const connections = await pageOf(api, '/connections', {
      attributes: ['name', 'provider', 'active', 'status', 'condition', 'model_conditions', 'last_error'],
      limit: MOST_ROWS,
    });
    return { services: services.rows, connections: connections.rows };
  },
});

export const quota = tool({
  name: 'quota',
  title: 'Quota',
  description: 'What is left of the limits of each account at its provider, where the provider tells.',
  input: z.object({}),
  permission: 'quota:read',
  effect: 'reads',
  async run(_, api) {
    const { rows, total } = await pageOf(api, '/quota', { limit: MOST_ROWS });
    return { total, quota: rows };
  },
});

export const toolStatus = tool({
  name: 'tool_status',
  title: 'Coding tools',
  description:
    'The coding tools and agents on the gateway’s machine: which are installed, which point at this gateway, with which model, and whose configuration was changed since.',
  input: z.object({
    installed: z.boolean().default(true).describe('only the tools that are installed'),
  }),
  permission: 'tools:read',
  effect: 'reads',
  async run({ installed }, api) {
    const attributes = ['name', 'installed', 'status', 'endpoint', 'model', 'drifted', 'mend'];
    const filters = installed ? ['installed=true'] : [];
    const { rows, total } = await pageOf(api, '/tools', { filters, attributes, limit: MOST_ROWS });
    return { total, tools: rows };
  },
});
