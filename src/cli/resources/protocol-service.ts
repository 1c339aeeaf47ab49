import { z } from 'zod';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { textOf } from '../gateway/api.ts';
import { failure } from '../terminal/failure.ts';

/** A protocol server that is a service of the gateway. */
export interface ProtocolService {
  id: 'mcp' | 'a2a';
  /** `MCP server`. */
  name: string;
  /** Where clients reach it. */
  path: string;
}

const service = z.object({
  id: z.string(),
  state: z.string(),
  state_reason: z.object({ message: z.string() }).nullable(),
  started_at: z.string().nullable(),
  restarts: z.object({ count: z.int() }),
  health: z.object({
    status: z.string(),
    checks: z.array(z.object({ name: z.string(), status: z.string(), output: z.string() })),
  }),
});

const outcome = z.object({ success: z.boolean(), message: z.string() });

const TIMEOUT_MS = 15_000;

/** `gateway mcp status`. */
export function protocolStatusCommand({ id, name, path }: ProtocolService): Command {
  return {
    arguments: [],
    flags: [],
    needs: 'server',
    about: `Exit 1 while the ${name} does not run.`,
    examples: [{ command: `gateway ${id} status --json`, does: '{"id","url","state","health",…}' }],
    run: async (_, context) => {
      const { url } = await context.gateway();
      const row = service.parse(await answerOf(context, id, 'GET'));
      const document = { ...row, url: `${url}${path}` };
      context.io.result(document, () =>
        [
          `${name}: ${row.state} at ${document.url}${row.state_reason === null ? '' : ` (${row.state_reason.message})`}`,
          ...row.health.checks.map((check) => `${check.name.padEnd(12)} ${check.status}  ${check.output}`),
        ].join('\n'),
      );
      return row.state === 'running' ? 0 : 1;
    },
  };
}

/** `gateway mcp restart`. */
export function protocolRestartCommand({ id, name }: ProtocolService): Command {
  return {
    arguments: [],
    flags: [],
    needs: 'server',
    about: `Requests under way may finish. It starts the ${name} where it was stopped.`,
    examples: [{ command: `gateway ${id} restart`, does: `the ${name} stops and starts again` }],
    run: async (_, context) => {
      const { message, success } = outcome.parse(await answerOf(context, id, 'POST'));
      if (!success) throw failure(1, 'failed', message);
      context.io.result({ restarted: true, message }, () => message);
      return 0;
    },
  };
}

async function answerOf(context: Context, id: string, method: 'GET' | 'POST'): Promise<unknown> {
  const gateway = await context.gateway();
  const answer = await gateway.send(`/api/services/${id}`, {
    method,
    timeoutMs: TIMEOUT_MS,
    ...(method === 'GET' ? {} : { body: { action: 'restart' } }),
  });
  const text = await textOf(answer);
  if (answer.status < 300) return JSON.parse(text);
  throw failure(1, 'unexpected_answer', `The gateway answered ${answer.status} for the service ${id}`);
}
