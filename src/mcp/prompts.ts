import { z } from 'zod';

/** A question that people ask again and again, as a client offers it in a menu. */
export interface GatewayPrompt {
  name: string;
  title: string;
  description: string;
  /** Permissions without which the assistant could not answer it. */
  permissions: readonly string[];
  input: z.ZodObject;
  text(input: Readonly<Record<string, unknown>>): string;
}

export const gatewayPrompts: readonly GatewayPrompt[] = [
  {
    name: 'review_costs',
    title: 'Review costs',
    description: 'Where the money went, and what would be cheaper.',
    permissions: ['usage:read', 'models:read'],
    input: z.object({
      days: z
        .string()
        .regex(/^\d{1,3}$/)
        .optional()
        .describe('how many days back; default 7'),
    }),
    text: ({ days = '7' }) =>
      `Review what this gateway spent in the last ${String(days)} days. Call "costs" by day, by model and by key. Say what changed, which models and keys cost most, and name requests without a known price. Then look at "list_models" and propose cheaper models only where they plausibly do the same work. Give figures.`,
  },
  {
    name: 'diagnose_failures',
    title: 'Diagnose failures',
    description: 'Why requests fail at the moment, and what to do about it.',
    permissions: ['requests:read', 'services:read'],
    input: z.object({}),
    text: () =>
      'Find out why requests of this gateway fail. Call "health", then "recent_requests" with outcome "failed", and "explain_request" for one request of each kind of failure. Group the failures by cause. For each say what happened, since when, whom it concerns, and the one thing to do about it.',
  },
];
