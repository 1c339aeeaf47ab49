/**
 * The upstream of the bench, in a process of its own: answers by the plan that the model id names, in the plan's
 * format, after it has checked every byte of the request. On bare sockets, so that it costs less than what
 * it measures.   node bench/mock.ts [PORT]
 */
import { createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { jsonAnswer, streamFrames } from './answer-body.ts';
import { isTranslated, type Plan, parsePlan, planName } from './plan.ts';
import { requestBody } from './request-body.ts';
import { createComparison, createMessageReader } from './wire.ts';

interface Answer {
  /** Null when any request will do. */
  expected: Buffer | null;
  intervalMs: number;
  /** What goes out, one write each. */
  writes: Buffer[];
}

const headers = [
  'server: bench',
  'x-request-id: req_0123456789abcdef0123456789abcdef',
  'openai-organization: bench',
  'openai-processing-ms: 12',
  'openai-version: 2020-10-01',
  'x-ratelimit-limit-requests: 10000',
  'x-ratelimit-remaining-requests: 9999',
  'strict-transport-security: max-age=31536000; includeSubDomains; preload',
].join('\r\n');

function prepare(plan: Plan): Answer {
  // What a translation writes is held to by golden files; here only that it came.
  const expected = isTranslated(plan) ? null : requestBody(plan, planName(plan));
  if (plan.kind === 'json') {
    const body = jsonAnswer(plan);
    const head = `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    return { expected, intervalMs: 0, writes: [Buffer.concat([Buffer.from(head), body])] };
  }
  const head = `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunks = streamFrames(plan).map((frame) =>
    Buffer.concat([Buffer.from(`${frame.length.toString(16)}\r\n`), frame, Buffer.from('\r\n')]),
  );
  const writes: Buffer[] = [];
  for (let i = 0; i < chunks.length; i += plan.framesPerWrite) {
    writes.push(Buffer.concat(chunks.slice(i, i + plan.framesPerWrite)));
  }
  writes[0] = Buffer.concat([Buffer.from(head), writes[0] ?? Buffer.alloc(0)]);
  const last = writes.length - 1;
  writes[last] = Buffer.concat([writes[last] ?? Buffer.alloc(0), Buffer.from('0\r\n\r\n')]);
  return { expected, intervalMs: plan.intervalMs, writes };
}

const prepared = new Map<string, Answer>();

function answerOf(model: string): Answer | null {
  const known = prepared.get(model);
  if (known !== undefined) return known;
  const plan = parsePlan(model);
  if (plan === null) return null;
  const answer = prepare(plan);
  prepared.set(model, answer);
  return answer;
}

function refuse(socket: Socket, message: string): void {
  const body = JSON.stringify({ error: { message, type: 'bench', code: null, param: null } });
  socket.write(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function send(socket: Socket, answer: Answer): void {
  let next = 0;
  function writeOne(): boolean {
    const bytes = answer.writes[next];
    next += 1;
    return bytes === undefined || socket.write(bytes);
  }
  if (answer.intervalMs > 0 && answer.writes.length > 1) {
    writeOne();
    const timer = setInterval(() => {
      writeOne();
      if (next >= answer.writes.length || socket.destroyed) clearInterval(timer);
    }, answer.intervalMs);
    return;
  }
  function pump(): void {
    while (next < answer.writes.length) {
      if (!writeOne()) {
        socket.once('drain', pump);
        return;
      }
    }
  }
  pump();
}

/** The plan's name in the path, as Gemini's clients send it. */
const inPath = /^POST \/v1beta\/models\/([^:/ ]+):/;
const asFirstMember = /^\{"model":"([^"]*)"/;
const asLastMember = /"model":"([^"]*)"\}$/;

function serve(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  let head = '';
  /** The body as far as it came, until its model is known. */
  let kept: Buffer[] = [];
  let answer: Answer | null = null;
  let comparison: ReturnType<typeof createComparison> | null = null;

  function begin(model: string): void {
    answer = answerOf(model);
    if (answer === null || answer.expected === null) return;
    comparison = createComparison(answer.expected);
    for (const piece of kept) comparison.add(piece);
    kept = [];
  }

  const read = createMessageReader({
    head(text) {
      head = text;
      kept = [];
      answer = null;
      comparison = null;
      const model = inPath.exec(text)?.[1];
      if (model !== undefined) begin(model);
    },
    body(piece) {
      if (comparison !== null) comparison.add(piece);
      if (answer !== null) return;
      kept.push(piece);
      if (kept.length > 2) return;
      const model = asFirstMember.exec(Buffer.concat(kept).toString('latin1', 0, 256))?.[1];
      if (model !== undefined) begin(model);
    },
    end() {
      if (answer === null) {
        const model = asLastMember.exec(Buffer.concat(kept).subarray(-256).toString('latin1'))?.[1];
        if (model !== undefined) begin(model);
      }
      if (answer === null)
        refuse(socket, `no plan in: ${head.slice(0, 60)} ${String(kept[0]?.subarray(0, 60))}`);
      else if (answer.expected === null || comparison?.matches()) send(socket, answer);
      else refuse(socket, 'the request body is not what the client sent');
    },
  });
  socket.on('data', read);
}

const server = createServer({ noDelay: true }, serve);
const {
  positionals: [port = '0'],
} = parseArgs({ allowPositionals: true });
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 2_048 }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the mock has no TCP address');
  console.log(`listening on http://127.0.0.1:${address.port}`);
});
process.once('SIGTERM', () => process.exit(0));
