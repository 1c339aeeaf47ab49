import { type CacheRow, cacheRow } from '../../cache/schema.ts';
import type { Command } from '../command.ts';
import type { GatewayRequest, RunningGateway } from '../gateway/client.ts';
import { failure } from '../terminal/failure.ts';
import { count } from '../terminal/text.ts';

const TIMEOUT_MS = 10_000;

export const cacheCommand: Command = {
  arguments: [{ name: 'action', summary: 'clear: forget all answers', required: false, choices: ['clear'] }],
  flags: [],
  needs: 'server',
  about: 'The gateway keeps answers in memory, for keys and combos that turn the cache on.',
  examples: [
    { command: 'gateway cache --json', does: '{"entries","bytes","hits","misses","hit_rate",…}' },
    { command: 'gateway cache clear', does: 'every next request is sent to its provider again' },
  ],
  run: async (options, context) => {
    const gateway = await context.gateway();
    if (options.argument('action') === 'clear') {
      const body = { action: 'clear' };
      await ask(gateway, '/api/cache/answers', { method: 'POST', body, timeoutMs: TIMEOUT_MS });
      context.io.result({ cleared: true }, () => 'All answers are forgotten.');
      return 0;
    }
    const answer = await ask(gateway, '/api/cache/answers', { method: 'GET', timeoutMs: TIMEOUT_MS });
    const { id: _, ...row } = cacheRow.parse(Object.fromEntries(rowFields(answer)));
    context.io.result(row, () => prose(row));
    return 0;
  },
};

/** The fields of a row, without what the API adds to each. */
function* rowFields(row: unknown): Iterable<[string, unknown]> {
  for (const [name, value] of Object.entries(Object(row)))
    if (Object.hasOwn(cacheRow.shape, name)) yield [name, value];
}

async function ask(gateway: RunningGateway, path: string, send: GatewayRequest): Promise<unknown> {
  const answer = await gateway.send(path, send);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (answer.status < 300) return JSON.parse(text);
  throw failure(1, 'upstream_error', `The gateway answered ${answer.status} to ${path}`);
}

function prose({
  bytes,
  coalesced,
  entries,
  hit_rate,
  hits,
  max_bytes,
  misses,
}: Omit<CacheRow, 'id'>): string {
  const share = hit_rate === null ? '' : `, ${Math.round(hit_rate * 100)} %`;
  return [
    `${count(entries, 'answer')}, ${mega(bytes)} of ${mega(max_bytes)} MB`,
    `${count(hits, 'hit')}${share} (${coalesced} waited for another request), ${misses} ${misses === 1 ? 'miss' : 'misses'}`,
  ].join('\n');
}

function mega(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
