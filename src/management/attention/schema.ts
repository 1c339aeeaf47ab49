import { z } from 'zod';

/** Something that a person has to see to, as it is shown. */
export const attentionRow = z.object({
  /** `connection:con_1`, `budget:bud_1` */
  id: z.string(),
  kind: z.enum(['service', 'connection', 'budget', 'tool', 'dead_letters']),
  /** Id of the service, budget, tool or trigger that it is about. */
  subject: z.string(),
  /** Null for a budget of all requests. */
  name: z.string().nullable(),
  /** `fail`: something does not work. `warn`: it soon may not, or waits. */
  severity: z.enum(['warn', 'fail']),
  /** What is the matter, in a sentence. */
  detail: z.string(),
  /** What ends it: a page of the dashboard, a command. */
  mend: z.string().nullable(),
  /** The kind of a tool; null for others. */
  category: z.enum(['code', 'agent']).nullable(),
  /** How much of a budget is used, in percent; null for others. */
  used_percent: z.number().nullable(),
  /** How many dead letters wait; null for others. */
  count: z.int().nullable(),
});

export type AttentionRow = z.infer<typeof attentionRow>;
