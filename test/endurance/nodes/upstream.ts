import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { chatStream, messagesStream } from '../../support/upstream/answers.ts';

/** What an upstream is asked to do, in the text of the last message: it travels through every translation. */
export interface Plan {
  /** Of one client's request; no two are the same. */
  readonly nonce: string;
  /** How many words the answer has. */
  readonly words: number;
  /** Milliseconds between two words of a stream. */
  readonly everyMs: number;
  /** After how many words the connection is reset; null for never. */
  readonly cutAfter: number | null;
}

export const planText = ({ cutAfter, everyMs, nonce, words }: Plan): string =>
  `plan ${nonce} ${words} ${everyMs} ${cutAfter ?? -1}`;

function planIn(text: string): Plan | null {
  const found = /plan ([\w-]+) (\d+) (\d+) (-?\d+)/.exec(text);
  if (found === null) return null;
  const [, nonce = '', words, everyMs, cut] = found;
  const cutAfter = Number(cut);
  return {
    nonce,
    words: Number(words),
    everyMs: Number(everyMs),
    cutAfter: cutAfter < 0 ? null : cutAfter,
  };
}

/** The words of an answer: the nonce, then `w1.` to `wN.` */
const wordsOf = ({ nonce, words }: Plan): string[] => [
  `${nonce} `,
  ...Array.from({ length: words }, (_, index) => `w${index + 1}. `),
];

export interface NodesUpstream {
  readonly url: string;
  /** When requests arrived, by nonce, in milliseconds since the epoch; those that a flaky account refused are left out. */
  readonly arrivals: ReadonlyMap<string, readonly number[]>;
  /** Refusals by the flaky account. */
  refused(): number;
  close(): Promise<void>;
}

/**
 * A model provider that speaks `chat/completions` and `messages`, and remembers each request. Below `/flaky` it fails by
 * chance: a 500, a 429, or a reset.
 */
export async function startNodesUpstream(random: () => number): Promise<NodesUpstream> {
  const arrivals = new Map<string, number[]>();
  let refused = 0;
  let answered = 0;
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = request.url ?? '';
    if (request.method === 'GET') return void sendJson(response, 200, { object: 'list', data: [] });
    const plan = planIn(text);
    if (plan === null) return void sendJson(response, 400, { error: { message: 'no plan' } });
    if (path.startsWith('/flaky') && random() < 0.4) {
      refused += 1;
      const which = random();
      if (which < 0.4) return void sendJson(response, 500, { error: { message: 'overloaded' } });
      if (which < 0.7)
        return void sendJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '1' });
      return void request.socket.destroy();
    }
    arrivals.set(plan.nonce, [...(arrivals.get(plan.nonce) ?? []), Date.now()]);
    answered += 1;
    const streamed = (JSON.parse(text) as { stream?: boolean }).stream === true;
    const format = path.includes('/messages') ? 'messages' : 'chat';
    response.setHeader('x-request-id', `up_${answered}`);
    if (streamed) await stream(response, plan, format);
    else sendJson(response, 200, whole(plan, format));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    refused: () => refused,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function whole(plan: Plan, format: 'chat' | 'messages'): object {
  const text = wordsOf(plan).join('');
  if (format === 'messages')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: plan.words },
    };
  const usage = { prompt_tokens: 5, completion_tokens: plan.words, total_tokens: 5 + plan.words };
  const message = { role: 'assistant', content: text };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm-1',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  };
}

async function stream(response: ServerResponse, plan: Plan, format: 'chat' | 'messages'): Promise<void> {
  const text = wordsOf(plan);
  const { content, ending, preamble } =
    format === 'messages' ? messagesStream({ text }) : chatStream({ text });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(preamble);
  for (const [index, piece] of content.entries()) {
    if (response.closed || response.destroyed) return;
    if (plan.cutAfter !== null && index > plan.cutAfter) return void response.socket?.destroy();
    // What was not handed over yet would go with the connection.
    if (plan.cutAfter !== null) await new Promise((resolve) => response.write(piece, resolve));
    else response.write(piece);
    if (plan.everyMs > 0) await delay(plan.everyMs);
  }
  response.end(ending);
}
