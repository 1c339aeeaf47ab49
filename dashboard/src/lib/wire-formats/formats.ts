import type { FormatName } from './names.ts';

/** What is asked. */
export interface Prompt {
  model: string;
  system: string;
  text: string;
  /** The most tokens of the answer; null for what the model takes. */
  maxTokens: number | null;
  /** Whether the answer is to come piece by piece. */
  stream: boolean;
}

/** A wire format as a client speaks it. */
interface Format {
  /** Below the gateway's address. */
  path(prompt: Pick<Prompt, 'model' | 'stream'>): string;
  body(prompt: Prompt): object;
  /** Where the key goes; the value is made of the key. */
  keyHeader: string;
  keyValue(key: string): string;
  /** Headers beside the key and the content type. */
  headers?: Readonly<Record<string, string>>;
  /** How the records of a stream are told apart. */
  framing: 'sse' | 'lines';
  /** The text that a record of a stream adds; null where it adds none. */
  delta(record: unknown): string | null;
}

/** The Anthropic format demands a limit. */
const ANTHROPIC_MAX_TOKENS = 4_096;

const bearer = { keyHeader: 'authorization', keyValue: (key: string) => `Bearer ${key}` };

export const formats: Readonly<Record<FormatName, Format>> = {
  'openai-chat': {
    ...bearer,
    path: () => '/v1/chat/completions',
    body: ({ maxTokens, model, stream, system, text }) => ({
      model,
      messages: [
        ...(system === '' ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: text },
      ],
      ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    }),
    framing: 'sse',
    delta: (record) => textAt(record, 'choices', 0, 'delta', 'content'),
  },
  'openai-responses': {
    ...bearer,
    path: () => '/v1/responses',
    body: ({ maxTokens, model, stream, system, text }) => ({
      model,
      ...(system === '' ? {} : { instructions: system }),
      input: text,
      ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
      store: false,
      stream,
    }),
    framing: 'sse',
    delta: (record) => (at(record, 'type') === 'response.output_text.delta' ? textAt(record, 'delta') : null),
  },
  'anthropic-messages': {
    keyHeader: 'x-api-key',
    keyValue: (key) => key,
    headers: { 'anthropic-version': '2023-06-01' },
    path: () => '/v1/messages',
    body: ({ maxTokens, model, stream, system, text }) => ({
      model,
      max_tokens: maxTokens ?? ANTHROPIC_MAX_TOKENS,
      ...(system === '' ? {} : { system }),
      messages: [{ role: 'user', content: text }],
      stream,
    }),
    framing: 'sse',
    delta: (record) => textAt(record, 'delta', 'text'),
  },
  gemini: {
    keyHeader: 'x-goog-api-key',
    keyValue: (key) => key,
    path: ({ model, stream }) =>
      `/v1beta/models/${model.split('/').map(encodeURIComponent).join('/')}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: ({ maxTokens, system, text }) => ({
      ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      contents: [{ role: 'user', parts: [{ text }] }],
      ...(maxTokens === null ? {} : { generationConfig: { maxOutputTokens: maxTokens } }),
    }),
    framing: 'sse',
    delta: (record) => {
      const parts = at(record, 'candidates', 0, 'content', 'parts');
      if (!Array.isArray(parts)) return null;
      return parts
        .filter((part) => at(part, 'thought') !== true)
        .map((part) => textAt(part, 'text') ?? '')
        .join('');
    },
  },
  ollama: {
    ...bearer,
    path: () => '/api/chat',
    body: ({ maxTokens, model, stream, system, text }) => ({
      model,
      messages: [
        ...(system === '' ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: text },
      ],
      ...(maxTokens === null ? {} : { options: { num_predict: maxTokens } }),
      stream,
    }),
    framing: 'lines',
    delta: (record) => textAt(record, 'message', 'content'),
  },
};

/** What an error body or an error event says, in any of the formats; null for what is none. */
export function errorIn(record: unknown): string | null {
  const error = at(record, 'error');
  if (typeof error === 'string') return error;
  return textAt(error, 'message') ?? textAt(record, 'response', 'error', 'message');
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : null;
}
