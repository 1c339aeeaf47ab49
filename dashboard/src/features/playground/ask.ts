import { gatewayUrl } from '../../lib/base-path.ts';
import { errorIn, formats, type Prompt } from '../../lib/wire-formats/formats.ts';
import type { FormatName } from '../../lib/wire-formats/names.ts';

/** How an answer came so far. Times in milliseconds since it was asked for. */
export interface Answer {
  state: 'asking' | 'streaming' | 'done' | 'failed' | 'stopped';
  text: string;
  /** Of the gateway, by which the request is found; null before it answered. */
  requestId: string | null;
  /** HTTP status. */
  status: number | null;
  error: string | null;
  firstMs: number | null;
  totalMs: number | null;
}

export const noAnswer: Answer = {
  state: 'asking',
  text: '',
  requestId: null,
  status: null,
  error: null,
  firstMs: null,
  totalMs: null,
};

/** By what requests of the playground are told apart from others. */
const TAG = 'playground';

export interface AskInput {
  prompt: Prompt;
  format: FormatName;
  key: string;
  signal: AbortSignal;
  /** Told of each change. */
  changed(answer: Answer): void;
}

/** Asks one model as a client would, and tells of the answer as it comes. Never throws. */
export async function ask({ changed, format, key, prompt, signal }: AskInput): Promise<void> {
  const { body, delta, framing, headers = {}, keyHeader, keyValue, path } = formats[format];
  const began = performance.now();
  const elapsed = () => Math.round(performance.now() - began);
  let answer = noAnswer;
  const become = (next: Partial<Answer>) => {
    answer = { ...answer, ...next };
    changed(answer);
  };
  try {
    const response = await fetch(`${gatewayUrl()}${path(prompt)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-tags': TAG,
        ...headers,
        [keyHeader]: keyValue(key),
      },
      body: JSON.stringify(body(prompt)),
      credentials: 'omit',
      signal,
    });
    become({ requestId: response.headers.get('x-request-id'), status: response.status });
    if (!response.ok || response.body === null) {
      const text = await response.text();
      become({ state: 'failed', error: errorIn(parsed(text)) ?? text.slice(0, 500), totalMs: elapsed() });
      return;
    }
    let error: string | null = null;
    for await (const data of records(response.body, framing)) {
      const record = parsed(data);
      error ??= errorIn(record);
      const added = delta(record);
      if (added === null || added === '') continue;
      become({ state: 'streaming', text: answer.text + added, firstMs: answer.firstMs ?? elapsed() });
    }
    become({ state: error === null ? 'done' : 'failed', error, totalMs: elapsed() });
  } catch (thrown) {
    if (signal.aborted) become({ state: 'stopped', totalMs: elapsed() });
    else
      become({
        state: 'failed',
        error: thrown instanceof Error ? thrown.message : String(thrown),
        totalMs: elapsed(),
      });
  }
}

/** The records of a stream: the data of server-sent events, or whole lines. */
async function* records(body: ReadableStream<Uint8Array>, framing: 'sse' | 'lines'): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = done ? '' : (lines.pop() ?? '');
    for (const line of lines) {
      if (framing === 'lines' && line !== '') yield line;
      if (framing === 'sse' && line.startsWith('data:')) yield line.slice('data:'.length).trim();
    }
    if (done) return;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
