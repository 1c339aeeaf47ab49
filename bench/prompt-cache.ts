/**
 * What marks for Anthropic's prompt cache save: sessions of five tools, which cannot set any, through the gateway to a server
 * that keeps a cache by Anthropic's rules, with marks and without. Prices are those of the catalog.
 *
 *     node bench/prompt-cache.ts
 */
import { parseArgs } from 'node:util';
import { agentSessions } from '../test/support/agents/agent-sessions.ts';
import type { Reply } from '../test/support/clients/client.ts';
import { type RunningGateway, rowsOf, startGateway } from '../test/support/gateway/gateway.ts';
import { cachingVendor, promptTokens } from '../test/support/upstream/caching-vendor.ts';
import { startUpstream, type Upstream } from '../test/support/upstream/upstream.ts';

// Takes no arguments, and refuses any.
parseArgs();

const MODEL = 'claude-sonnet-5';

interface Outcome {
  steps: number;
  tokens: number;
  read: number;
  usd: number;
}

async function run(
  gateway: RunningGateway,
  upstream: Upstream,
  [session, connection]: [(typeof agentSessions)[number], string],
): Promise<Outcome> {
  const seen = cachingVendor(upstream);
  const requests = session.steps(`${connection}/${MODEL}`, gateway.key);
  const replies: Reply[] = [];
  for (const { body, path } of requests) replies.push(await gateway.ask(path, body));
  const rows = await rowsOf(gateway, replies);
  return {
    steps: requests.length,
    tokens: seen.reduce((sum, one) => sum + promptTokens(one), 0),
    read: seen.reduce((sum, { usage }) => sum + usage.cache_read_input_tokens, 0),
    usd: rows.reduce((sum, { cost_usd }) => sum + (cost_usd ?? Number.NaN), 0),
  };
}

const upstream = await startUpstream();
const gateway = await startGateway();
try {
  for (const [name, marks] of [
    ['marked', 'on'],
    ['bare', 'off'],
  ] as const)
    await gateway.cliJson(
      ...['provider', 'add', 'anthropic', '--name', name, '--base-url', upstream.url, '--api-key', 'k'],
      ...['--default-model', MODEL, '--prompt-cache-marks', marks],
    );
  process.stdout.write(
    '| tool | steps | input tokens | read from the cache | without marks | with marks | saved |\n',
  );
  process.stdout.write('|---|---|---|---|---|---|---|\n');
  for (const session of agentSessions) {
    const marked = await run(gateway, upstream, [session, 'marked']);
    const bare = await run(gateway, upstream, [session, 'bare']);
    const share = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;
    const cells = [
      session.tool,
      marked.steps,
      marked.tokens,
      share(marked.read, marked.tokens),
      `$${bare.usd.toFixed(4)}`,
      `$${marked.usd.toFixed(4)}`,
      share(bare.usd - marked.usd, bare.usd),
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
} finally {
  await gateway.stop();
  await upstream.close();
}
