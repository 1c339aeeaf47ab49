import type { Command } from '../command.ts';
import { runSmokeTest, type SmokeTest } from '../setup/smoke-test.ts';
import type { ExitCode } from '../terminal/exit-code.ts';
import { dollars } from '../terminal/text.ts';

const defaultTimeoutSeconds = 60;

export const testCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'model',
      names: 'model',
      value: 'ID',
      summary: 'the model to ask (default demo/echo, which costs nothing)',
    },
    {
      name: 'timeout',
      value: 'SECONDS',
      kind: 'count',
      summary: `give up after so long (default ${defaultTimeoutSeconds})`,
    },
  ],
  needs: 'server',
  about: 'Asks once whole and once streamed, and shows latency, tokens and cost.',
  examples: [
    { command: 'gateway test', does: 'is the gateway itself working?' },
    { command: 'gateway test --model openai/gpt-4o-mini', does: 'does the whole path to the provider work?' },
  ],
  run: async (options, context) => {
    const gateway = await context.gateway();
    const model = options.text('model') ?? 'demo/echo';
    const timeoutMs = (options.count('timeout') ?? defaultTimeoutSeconds) * 1000;
    const results: SmokeTest[] = [];
    for (const stream of [false, true]) {
      results.push(await runSmokeTest(gateway, { model, stream, timeoutMs }, context));
    }
    const exit: ExitCode = results.find((result) => result.exit !== 0)?.exit ?? 0;
    const document = { ok: exit === 0, model, url: gateway.url, requests: results.map(smokeDocument) };
    context.io.result(document, () =>
      [`${model} through ${gateway.url}`, ...results.map(smokeLine)].join('\n'),
    );
    return exit;
  },
};

function smokeDocument(result: SmokeTest) {
  const { entry } = result;
  return {
    ok: result.error === null,
    streamed: result.streamed,
    path: result.path,
    status: result.status,
    error: result.error,
    latency_ms: Math.round(result.latencyMs),
    ttft_ms: result.firstByteMs === null ? null : Math.round(result.firstByteMs),
    provider: entry?.provider ?? null,
    connection: entry?.connection ?? null,
    input_tokens: entry?.usage?.input ?? null,
    output_tokens: entry?.usage?.output ?? null,
    estimated: entry?.estimated ?? null,
    cost_usd: entry?.costUsd ?? null,
    request_id: result.requestId,
  };
}

/** One line about a smoke request, for people. */
export function smokeLine(result: SmokeTest): string {
  const kind = result.streamed ? 'streamed' : 'whole   ';
  if (result.error !== null) return `  ${kind}  failed: ${result.error}`;
  const first = result.firstByteMs === null ? '' : `, first byte after ${Math.round(result.firstByteMs)} ms`;
  const usage = result.entry?.usage;
  const tokens = usage ? `${usage.input} tokens in, ${usage.output} out` : 'tokens unknown';
  return `  ${kind}  ok in ${Math.round(result.latencyMs)} ms${first}, ${tokens}, cost ${dollars(result.entry?.costUsd ?? null)}`;
}
