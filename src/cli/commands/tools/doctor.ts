import { request } from 'undici';
import type { ToolRequest } from '../../../tools/doctor/doctor.ts';
import type { HttpAnswer } from '../../../tools/doctor/route.ts';
import { keyVariable } from '../../../tools/tool.ts';
import type { Command } from '../../command.ts';
import type { RunningGateway } from '../../gateway/client.ts';
import { checkReport, summaryOf } from '../../terminal/check-report.ts';
import { toolFlags } from '../../tools/flags.ts';
import { localRoot, modelsAt, namedTool, toolIds, toolPlace } from '../../tools/gateway-facts.ts';

/** For a dry run, and for a whole answer of a model. */
const TIMEOUT_MS = { dry: 15_000, real: 120_000 };

export const toolsDoctorCommand: Command = {
  arguments: [{ name: 'tool', summary: 'id of the tool', required: true, suggestions: toolIds }],
  flags: [
    { ...toolFlags.model, summary: 'the model to try (default: the one that the tool is set to)' },
    { ...toolFlags.apiKey, summary: 'the gateway key to try (default: the one that the tool has)' },
    toolFlags.remote,
    { name: 'send', summary: 'also send the request to the model, which may cost money' },
  ],
  needs: 'nothing',
  about:
    'Takes a request as the tool really sends it all the way up to the model, and says what would break: its program, its configuration, variables that win over it, its address and key, its model, and the fields that a model of another format does not get. Nothing is sent to a model unless you add --send, which also checks whether the answer streams and whether the model calls tools. Changes nothing. Exit 1 when a check fails; warnings do not count.',
  examples: [
    { command: 'gateway tools doctor claude', does: 'what is wrong with Claude Code here?' },
    { command: 'gateway tools doctor codex --model smart', does: 'what would another model not get?' },
    { command: 'gateway tools doctor qwen --send --json', does: 'one real request, as a script reads it' },
  ],
  run: async (options, context) => {
    const { diagnose } = await import('../../../tools/doctor/doctor.ts');
    const { watchedVariables } = await import('../../../tools/doctor/local.ts');
    const { createDetector } = await import('../../../tools/detection/detect.ts');
    const { gatewayRoot } = await import('../../../tools/configuring/base-url.ts');
    const { forVersion } = await import('../../../tools/detection/version.ts');
    const entry = await namedTool(options.argument('tool'), context);
    const place = await toolPlace(context);
    const detection = await createDetector(place.machine).detect(entry);
    const tool = forVersion(entry, detection.version ?? null);
    const remote = options.text('remote');
    const running = remote === undefined ? await context.findGateway() : null;
    const watched = watchedVariables(tool);
    const diagnosis = await diagnose({
      place,
      tool,
      detection,
      root: remote === undefined ? await localRoot(context) : gatewayRoot(remote),
      environment: {
        // Others may hold secrets that are none of the gateway's.
        variables: await context.variables([...Object.keys(tool.recipe.environment ?? {}), keyVariable]),
        set: await context.setVariables(watched),
      },
      key: options.text('api-key') ?? null,
      model: options.text('model') ?? null,
      send: options.on('send'),
      models: (root, key) => modelsAt(root, key, running),
      ask: (request) => answered(request, running),
    });
    const { checks } = diagnosis;
    const summary = summaryOf(checks);
    context.io.result({ ...diagnosis, summary }, () => checkReport(checks, context.io));
    if (!options.on('send'))
      context.io.note('Nothing was sent to a model: --send sends one request and looks at the answer.');
    return summary.fail === 0 ? 0 : 1;
  },
};

/** @throws an Error whose message says why nothing answered */
async function answered(
  { body, headers, key, url }: ToolRequest,
  running: RunningGateway | null,
): Promise<HttpAnswer> {
  const timeoutMs = headers['x-gateway-dry-run'] === undefined ? TIMEOUT_MS.real : TIMEOUT_MS.dry;
  if (key === null && running === null)
    throw new Error('no gateway of this machine runs, and no key is known');
  try {
    if (key === null && running !== null) {
      const { pathname, search } = new URL(url);
      const { status, ...rest } = await running.send(`${pathname}${search}`, {
        method: 'POST',
        headers,
        body,
        timeoutMs,
      });
      return { status, headers: flat(rest.headers), text: await textOf(rest.body) };
    }
    const answer = await request(url, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      status: answer.statusCode,
      headers: flat(answer.headers),
      text: await textOf(answer.body),
    };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
    throw new Error(code, { cause: error });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): HttpAnswer['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
