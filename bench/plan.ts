/**
 * What one bench request asks for and gets, named in the model id, because a model id is the one knob that
 * every gateway carries to the upstream. The mock answers by it and the load generator expects by it.
 */
export const requestSizes = {
  '1k': 1_024,
  '30k': 30_720,
  '300k': 307_200,
  '1m': 1_048_576,
  '8m': 8_388_608,
} as const;

export type RequestSize = keyof typeof requestSizes;

/** Wire formats of the bench: chat completions, Anthropic's messages, responses, Gemini's generateContent. */
export const formats = ['chat', 'messages', 'responses', 'gemini'] as const;

export type Format = (typeof formats)[number];

export type Plan = JsonPlan | StreamPlan;

interface PlanBase {
  /** The format of the caller. */
  client: Format;
  /** The format of the mock; translated on the way where it is not the caller's. */
  upstream: Format;
  request: RequestSize;
  /** Whether the request's first member names the model or its last; Gemini names it in the path. */
  modelAt: 'first' | 'last';
}

/** `json.<client>.<upstream>.<request size>.<first or last>.<answer bytes>`: one whole answer. */
export interface JsonPlan extends PlanBase {
  kind: 'json';
  answerBytes: number;
}

/** `sse.<client>.chat.<request size>.<first or last>.<frames>.<interval ms>.<text bytes>.<frames per write>`: one stream of chat completions. */
export interface StreamPlan extends PlanBase {
  kind: 'sse';
  upstream: 'chat';
  frames: number;
  /** Milliseconds between two writes; 0 writes as fast as the socket takes it. */
  intervalMs: number;
  textBytes: number;
  framesPerWrite: number;
}

export function isTranslated(plan: Plan): boolean {
  return plan.client !== plan.upstream;
}

export function planName(plan: Plan): string {
  const begin = [plan.kind, plan.client, plan.upstream, plan.request, plan.modelAt];
  const rest =
    plan.kind === 'json'
      ? [plan.answerBytes]
      : [plan.frames, plan.intervalMs, plan.textBytes, plan.framesPerWrite];
  return [...begin, ...rest].join('.');
}

/** The plan that a model id names; null when it names none. */
export function parsePlan(name: string): Plan | null {
  const [kind, client = '', upstream = '', request = '', modelAt = '', ...rest] = name.split('.');
  if (!isFormat(client) || !isFormat(upstream) || !isRequestSize(request)) return null;
  if (modelAt !== 'first' && modelAt !== 'last') return null;
  const numbers = rest.map(Number);
  const [first, intervalMs, textBytes, framesPerWrite] = numbers;
  if (first === undefined || !numbers.every(Number.isSafeInteger)) return null;
  if (kind === 'json') return { kind, client, upstream, request, modelAt, answerBytes: first };
  if (kind !== 'sse' || upstream !== 'chat') return null;
  if (intervalMs === undefined || textBytes === undefined || framesPerWrite === undefined) return null;
  return { kind, client, upstream, request, modelAt, frames: first, intervalMs, textBytes, framesPerWrite };
}

function isFormat(text: string): text is Format {
  return formats.some((format) => format === text);
}

function isRequestSize(text: string): text is RequestSize {
  return Object.hasOwn(requestSizes, text);
}
