import { request } from 'undici';
import { vendorMessage } from '../../codecs/failures/vendor-message.ts';
import { parseObject } from '../../codecs/json/values.ts';
import { withoutTrailing } from '../../lib/trailing.ts';
import { baseUrlFor } from '../../tools/configuring/base-url.ts';
import type { Tool, ToolApi } from '../../tools/tool.ts';
import type { Context } from '../context.ts';
import { reportOf } from '../terminal/failure.ts';
import type { GatewayFacts } from './gateway-facts.ts';

/** What came of one request as the tool would send it. */
export interface RouteTest {
  url: string;
  model: string;
  max_tokens: number;
  ok: boolean;
  /** Null when nothing answered. */
  status: number | null;
  latency_ms: number;
  /** What is wrong and what helps; null when it worked. */
  error: string | null;
}

interface RouteRequest {
  /** Behind the base address that the tool is given. */
  path: string;
  keyHeader: string;
  headers?: Readonly<Record<string, string>>;
  body: object;
}

/** The least that OpenAI's responses take. */
const MAX_TOKENS = 16;
const TIMEOUT_MS = 60_000;
const question = 'Reply with the single word: ready';
const messages = [{ role: 'user', content: question }];

/** A small request of each API. */
const requests: Readonly<Record<ToolApi, (model: string) => RouteRequest>> = {
  'anthropic-messages': (model) => ({
    path: '/v1/messages',
    keyHeader: 'authorization',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: MAX_TOKENS, messages },
  }),
  'openai-chat': (model) => ({
    path: '/chat/completions',
    keyHeader: 'authorization',
    body: { model, max_tokens: MAX_TOKENS, messages },
  }),
  'openai-responses': (model) => ({
    path: '/responses',
    keyHeader: 'authorization',
    body: { model, max_output_tokens: MAX_TOKENS, input: question, store: false },
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:generateContent`,
    keyHeader: 'x-goog-api-key',
    body: {
      contents: [{ role: 'user', parts: [{ text: question }] }],
      generationConfig: { maxOutputTokens: MAX_TOKENS },
    },
  }),
};

export interface RouteInput {
  tool: Tool;
  facts: GatewayFacts;
  /** Null where the tool has its key in a variable: then the owner's own is used, which works on this machine alone. */
  key: string | null;
  /** The model that the tool is set to; null where it uses names of its own. */
  model: string | null;
}

/**
 * Tries the way that the tool's requests will take: one request in its own format, with its model.
 * @returns null when there is no gateway to ask, or no key to ask with; the reason is noted
 */
export async function testRoute(input: RouteInput, context: Context): Promise<RouteTest | null> {
  const { facts, key, tool } = input;
  const { io } = context;
  const untried = untriedBecause(facts, key);
  if (untried !== null) {
    io.note(`The route was not tried: ${untried}`);
    return null;
  }
  const model = input.model ?? ownModel(facts);
  const request = requests[tool.recipe.api](model ?? '');
  const url = baseUrlFor(tool.recipe.api, facts.root) + request.path;
  const test = { url, model: model ?? '', max_tokens: MAX_TOKENS };
  if (model === null)
    return {
      ...test,
      ok: false,
      status: null,
      latency_ms: 0,
      error: `${tool.name} asks for Claude models by their own names, and no connection here has them: repeat with --model`,
    };
  if (!io.json)
    io.note(`Trying the route: POST ${url}, model "${model}", "${question}", at most ${MAX_TOKENS} tokens.`);
  const started = performance.now();
  const outcome = await answered(facts, url, request, key);
  return { ...test, latency_ms: Math.round(performance.now() - started), ...outcome };
}

function untriedBecause({ models, root, running }: GatewayFacts, key: string | null): string | null {
  if (key === null && running === null)
    return `no gateway of this machine answers at ${root}. Start it with \`gateway serve\``;
  return models === null ? `no gateway answers at ${root}. Start it with \`gateway serve\`` : null;
}

/** A Claude model that the gateway serves, by the name that Anthropic gives it. */
function ownModel({ models }: GatewayFacts): string | null {
  const id = models?.find((one) => /(^|\/)claude-/.test(one));
  return id === undefined ? null : id.slice(id.lastIndexOf('/') + 1);
}

async function answered(
  { running }: GatewayFacts,
  url: string,
  { body, headers = {}, keyHeader }: RouteRequest,
  key: string | null,
): Promise<Pick<RouteTest, 'error' | 'ok' | 'status'>> {
  try {
    const answer =
      key === null && running !== null
        ? await running.send(new URL(url).pathname, { method: 'POST', body, timeoutMs: TIMEOUT_MS })
        : await sent(
            url,
            { ...headers, [keyHeader]: keyHeader === 'authorization' ? `Bearer ${key}` : `${key}` },
            body,
          );
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    const { status } = answer;
    if (status === 200) return { ok: true, status, error: null };
    return { ok: false, status, error: explained(status, Buffer.concat(pieces).toString('utf8')) };
  } catch (error) {
    return { ok: false, status: null, error: reportOf(error).message };
  }
}

async function sent(url: string, headers: Record<string, string>, body: object) {
  const { body: stream, statusCode } = await request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: statusCode, body: stream };
}

/** What helps, by the status; the gateway's own message says what is wrong. */
const advice: Readonly<Record<number, string>> = {
  401: 'Give another key with --api-key, or make one with `gateway keys add NAME`',
  402: '`gateway budgets list` shows what is spent',
  403: 'Give a key that may use this model, or another --model',
  404: '`gateway models` shows the models that there are',
  429: 'Try again later: `gateway quota` shows what is left',
};

function explained(status: number, text: string): string {
  const message = vendorMessage(parseObject(text)) || 'the answer names no reason';
  const help =
    advice[status] ?? (status >= 500 ? '`gateway health` shows what is wrong with the connections' : null);
  const sentence = `${status}: ${withoutTrailing(message.trimEnd(), '.')}.`;
  return help === null ? sentence : `${sentence} ${help}.`;
}
