import { z } from 'zod';

/** Where an alert goes. It may be a secret, and is stored encrypted. */
export const alertTarget = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('webhook'), url: z.string() }),
  z.object({ kind: z.literal('slack'), url: z.string() }),
  z.object({ kind: z.literal('email'), to: z.array(z.string()).min(1) }),
  z.object({ kind: z.literal('command'), file: z.string(), args: z.array(z.string()) }),
]);
export type AlertTarget = z.infer<typeof alertTarget>;
