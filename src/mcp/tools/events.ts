import { z } from 'zod';
import { tool } from '../tool.ts';

export const eventsTail = tool({
  name: 'events_tail',
  title: 'Watch events',
  description:
    'Waits for events that the configured sources publish from now on (requests that finish or fail, accounts that change, budgets that are reached, settings that are changed) and returns them. Ends with the limit, or after so many seconds.',
  input: z.object({
    cesql: z.string().max(1000).optional().describe(`CESQL filter, such as type LIKE '%.failed.v1'`),
    limit: z.int().min(1).max(100).default(10),
    seconds: z.int().min(1).max(30).default(10),
  }),
  permission: 'events:inspect',
  effect: 'reads',
  run: async ({ cesql = null, limit, seconds }, api) => ({
    events: await api.watchEvents({ cesql, limit, ms: seconds * 1000 }),
  }),
});
