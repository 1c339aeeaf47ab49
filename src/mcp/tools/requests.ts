import { z } from 'zod';
import { pageOf, quoted, withoutLinks } from '../api.ts';
import { time, tool } from '../tool.ts';

export const recentRequests = tool({
  name: 'recent_requests',
  title: 'Recent requests',
  description:
    'The latest model requests, newest first: which model answered, how it ended, tokens, cost and time. Prompts and answers are not kept.',
  input: z.object({
    outcome: z.enum(['ok', 'failed', 'aborted']).optional(),
    model: z.string().max(200).optional().describe('only requests that this model answered'),
    connection: z.string().max(200).optional(),
    since: time.optional().describe('ISO 8601: only requests that began then or later'),
    limit: z.int().min(1).max(200).default(20),
  }),
  permission: 'requests:read',
  effect: 'reads',
  async run({ connection, limit, model, outcome, since }, api) {
    const filters = [
      ...(outcome === undefined ? [] : [`outcome==${quoted(outcome)}`]),
      ...(model === undefined ? [] : [`model==${quoted(model)}`]),
      ...(connection === undefined ? [] : [`connection==${quoted(connection)}`]),
      ...(since === undefined ? [] : [`started_at>=${quoted(since)}`]),
    ];
    const attributes = [
      'started_at',
      'outcome',
      'status',
      'requested_model',
      'connection',
      'model',
      'input_tokens',
      'output_tokens',
      'cost_usd',
      'duration_ms',
      'attempts',
      'error',
    ];
    const { rows, total } = await pageOf(api, '/requests', { filters, attributes, limit });
    return { total, requests: rows };
  },
});

export const explainRequest = tool({
  name: 'explain_request',
  title: 'Explain a request',
  description:
    'Why one request went where it went: the candidates, who was passed over and why, every attempt with its error, tokens and cost. Takes the id of the x-request-id header or of recent_requests.',
  input: z.object({ id: z.string().min(1).max(200).describe('such as req_0mwq1x2y3zA') }),
  permission: 'requests:read',
  effect: 'reads',
  run: async ({ id }, api) => withoutLinks(await api.get(`/requests/${encodeURIComponent(id)}`)),
});
