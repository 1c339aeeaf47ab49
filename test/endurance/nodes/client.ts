import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Plan, planText } from './upstream.ts';

/** What a client speaks, and which model it asks for. */
export interface Dialect {
  readonly name: string;
  readonly path: string;
  body(model: string, text: string, stream: boolean): object;
  /** What ends a stream that went well. */
  readonly terminal: string;
  /** What ends one that did not. */
  readonly failure: RegExp;
}

export const dialects: readonly Dialect[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: (model, text, stream) => ({ model, stream, messages: [{ role: 'user', content: text }] }),
    terminal: 'data: [DONE]',
    failure: /data: \{"error"/,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (model, text, stream) => ({
      model,
      stream,
      max_tokens: 100,
      messages: [{ role: 'user', content: text }],
    }),
    terminal: 'event: message_stop',
    failure: /event: error/,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (model, text, stream) => ({ model, stream, store: false, input: text }),
    terminal: 'event: response.completed',
    failure: /event: (?:error|response\.failed)/,
  },
];

/** How a client behaves: reads at once, reads with pauses, or leaves after the first bytes. */
export type Manner = 'prompt' | 'slow' | 'leaves';

/**
 * How a request ended. `complete`: all of it, as the upstream sent it. `error`: an error in the client's dialect. `cut`: the
 * connection broke. `refused`: none was made, or it ended before any byte of an answer. `left`: the client did. `wrong`: anything else.
 */
export type Ending = 'complete' | 'error' | 'cut' | 'refused' | 'left' | 'hung' | 'wrong';

export interface Outcome {
  readonly plan: Plan;
  readonly node: number;
  /** The gateway's id of the request; null when no head of an answer came. */
  readonly id: string | null;
  readonly ending: Ending;
  /** Of an error, its code; of what is wrong, what it was. */
  readonly detail: string;
  /** `performance.now()`. */
  readonly begunAt: number;
  readonly endedAt: number;
}

export interface Asked {
  readonly plan: Plan;
  readonly node: number;
  readonly port: number;
  readonly key: string;
  readonly dialect: Dialect;
  readonly model: string;
  readonly stream: boolean;
  readonly manner: Manner;
}

/** Longer than any pause and any outage of a run: what takes longer hangs. */
const HUNG_MS = 120_000;

/** Sends one request and reads its answer to the end. Never throws. */
export async function askNode(asked: Asked): Promise<Outcome> {
  const { dialect, key, model, node, plan, port, stream } = asked;
  const begunAt = performance.now();
  const outcome = (ending: Ending, detail = '', id: string | null = null): Outcome => ({
    plan,
    node,
    id,
    ending,
    detail,
    begunAt,
    endedAt: performance.now(),
  });
  const hung = new AbortController();
  const timer = setTimeout(() => hung.abort(), HUNG_MS);
  try {
    const sent = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: dialect.path,
      agent: false,
      signal: hung.signal,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    });
    sent.end(JSON.stringify(dialect.body(model, planText(plan), stream)));
    const head = await headOf(sent);
    if (typeof head === 'string') return outcome(hung.signal.aborted ? 'hung' : 'refused', head);
    const id = String(head.headers['x-request-id'] ?? '');
    const { how, text } = await bodyOf(head, asked);
    if (hung.signal.aborted) return outcome('hung', '', id);
    if (how === 'left') return outcome('left', '', id);
    return { ...judge(asked, head.statusCode ?? 0, how, text, outcome), id };
  } finally {
    clearTimeout(timer);
  }
}

function headOf(sent: ClientRequest): Promise<IncomingMessage | string> {
  return new Promise((resolve) => {
    sent.once('response', resolve);
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

async function bodyOf(
  head: IncomingMessage,
  { manner }: Asked,
): Promise<{ how: 'ended' | 'cut' | 'left'; text: string }> {
  let text = '';
  head.setEncoding('utf8');
  try {
    for await (const piece of head) {
      text += piece as string;
      if (manner === 'leaves' && text.includes('w1.')) {
        head.destroy();
        return { how: 'left', text };
      }
      if (manner === 'slow') await delay(150);
    }
  } catch {
    return { how: 'cut', text };
  }
  return { how: head.complete ? 'ended' : 'cut', text };
}

function judge(
  { dialect, plan, stream }: Asked,
  status: number,
  how: 'ended' | 'cut',
  text: string,
  outcome: (ending: Ending, detail?: string) => Outcome,
): Outcome {
  if (status !== 200) {
    if (how === 'cut') return outcome('cut', String(status));
    const code = /"code":"?(\w+)|"type":"(\w+_error)"/.exec(text);
    return text.includes('"error"')
      ? outcome(
          'error',
          `${status} ${code?.[1] ?? code?.[2] ?? ''} ${/"message":"([^"]{0,160})/.exec(text)?.[1] ?? ''}`,
        )
      : outcome('wrong', `${status} without an error: ${text.slice(0, 200)}`);
  }
  const words = [...text.matchAll(/\bw(\d+)\./g)].map(([, number]) => Number(number));
  const distinct = [...new Set(words)];
  const inOrder = distinct.every((word, index) => word === index + 1);
  if (!inOrder) return outcome('wrong', `words out of order: ${distinct.join(' ')}`);
  if (stream && dialect.failure.test(text)) return outcome('error', '200 in_stream');
  const finished = stream ? text.includes(dialect.terminal) : how === 'ended';
  if (finished) {
    if (distinct.length === plan.words && text.includes(plan.nonce)) return outcome('complete');
    return outcome('wrong', `ended well with ${distinct.length} of ${plan.words} words`);
  }
  // A stream that ends without its last event looks whole to a careless client.
  if (how === 'ended') return outcome('wrong', `a clean end without ${dialect.terminal}`);
  return outcome('cut');
}
