/**
 * What one bench request asks for and gets, named in the model id, because a model id is the one knob that
 * every gateway carries to the upstream. The mock answers by it and the load generator expects by it.
 */
export const requestSizes = {
  '1k': 1_024,
  '30k': 30_720,
  '500k': 512_000,
  '1m': 1_048_576,
  '8m': 8_388_608,
} as const;

export type RequestSize = keyof typeof requestSizes;

export type Plan = JsonPlan | StreamPlan;

/** `json.<request size>.<answer bytes>`: one whole chat completion. */
interface JsonPlan {
  kind: 'json';
  request: RequestSize;
  answerBytes: number;
  /** Asked for in Anthropic's format, and translated on the way; the name begins with `x`. */
  translated?: boolean;
}

/** `sse.<request size>.<frames>.<interval ms>.<text bytes>.<frames per write>`: one streamed completion. */
export interface StreamPlan {
  kind: 'sse';
  request: RequestSize;
  frames: number;
  /** Milliseconds between two writes; 0 writes as fast as the socket takes it. */
  intervalMs: number;
  textBytes: number;
  framesPerWrite: number;
  translated?: boolean;
}

export function planName(plan: Plan): string {
  const x = plan.translated === true ? 'x' : '';
  if (plan.kind === 'json') return `${x}json.${plan.request}.${plan.answerBytes}`;
  return `${x}sse.${plan.request}.${plan.frames}.${plan.intervalMs}.${plan.textBytes}.${plan.framesPerWrite}`;
}

/** The plan that a model id names; null when it names none. */
export function parsePlan(name: string): Plan | null {
  const translated = name.startsWith('x');
  const [kind, size = '', ...rest] = (translated ? name.slice(1) : name).split('.');
  const numbers = rest.map(Number);
  if (!isRequestSize(size) || !numbers.every(Number.isSafeInteger)) return null;
  const [first, intervalMs, textBytes, framesPerWrite] = numbers;
  if (first === undefined) return null;
  if (kind === 'json') return { kind, request: size, answerBytes: first, translated };
  if (kind !== 'sse') return null;
  if (intervalMs === undefined || textBytes === undefined || framesPerWrite === undefined) return null;
  return { kind, request: size, frames: first, intervalMs, textBytes, framesPerWrite, translated };
}

function isRequestSize(text: string): text is RequestSize {
  return Object.hasOwn(requestSizes, text);
}

/** The request of a plan, `requestSizes` bytes long when `model` is the plan's own name. */
export function requestBody(plan: Plan, model: string): Buffer {
  const head = `{"model":${JSON.stringify(model)},`;
  const plain = `{"model":${JSON.stringify(planName(plan))},`;
  const rest = requestRest(requestSizes[plan.request] - plain.length, plan.kind === 'sse');
  return Buffer.from(head + rest);
}

/**
 * The members after `model`, in the order and shape that coding agents send: a long system text, turns of
 * tool calls and tool results full of escapes, the tools, then the small settings. All ASCII, so that
 * characters are bytes.
 */
function requestRest(bytes: number, stream: boolean): string {
  const tail = stream ? ',"stream":true,"stream_options":{"include_usage":true}}' : ',"temperature":0.2}';
  const tools = bytes < 8_192 ? '' : `,"tools":[${Array.from({ length: 12 }, (_, i) => tool(i)).join(',')}]`;
  const closing = `]${tools}${tail}`;
  const opening = `"messages":[${message('system', codeText(0, Math.min(4_096, Math.floor(bytes / 4))))}`;
  const turns: string[] = [];
  let length = opening.length + closing.length;
  for (let turn = 1; ; turn += 1) {
    const text = exchange(turn);
    if (length + text.length + 64 > bytes) break;
    turns.push(text);
    length += text.length;
  }
  const last = ',{"role":"user","content":"';
  const padding = fill(bytes - length - last.length - 2);
  return `${opening}${turns.join('')}${last}${padding}"}${closing}`;
}

/** `length` characters of question, the odd remainder as dots. */
function fill(length: number): string {
  const question = 'Why does the second test fail?\\n';
  const times = Math.max(0, Math.floor(length / question.length));
  return question.repeat(times) + '.'.repeat(Math.max(0, length - times * question.length));
}

function message(role: string, content: string): string {
  return JSON.stringify({ role, content });
}

/** An assistant's tool call and its result: about 2 KB, a twentieth of it escapes. */
function exchange(turn: number): string {
  const call = {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: `call_${turn}`,
        type: 'function',
        function: {
          name: 'read_file',
          arguments: JSON.stringify({ path: `src/part_${turn}.ts`, from: turn }),
        },
      },
    ],
  };
  const result = { role: 'tool', tool_call_id: `call_${turn}`, content: codeText(turn, 1_800) };
  return `,${JSON.stringify(call)},${JSON.stringify(result)}`;
}

function codeText(seed: number, length: number): string {
  let text = '';
  for (let line = 0; text.length < length; line += 1) {
    const id = (seed * 7_919 + line * 104_729) % 65_536;
    text += `\tif (value_${id} === "item ${line}") return path.join('C:\\\\', name_${seed}); // line ${line}\n`;
  }
  return text.slice(0, length);
}

function tool(index: number): string {
  return JSON.stringify({
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: `Reads or changes a part of the project.\n${codeText(index, 240)}`,
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'A path below the project.' },
          from: { type: 'integer' },
        },
        required: ['path'],
      },
    },
  });
}

const usage = { prompt_tokens: 512, completion_tokens: 128, total_tokens: 640 };

/** The body of a whole answer, `plan.answerBytes` long when `model`, which it names, is the plan's own name. */
export function jsonAnswer(plan: JsonPlan, model: string = planName(plan)): Buffer {
  const answer = (name: string, content: string) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: name,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
  });
  const bare = JSON.stringify(answer(planName(plan), '')).length;
  return Buffer.from(JSON.stringify(answer(model, 'a'.repeat(Math.max(1, plan.answerBytes - bare)))));
}

/** Every frame of a streamed answer that names `model`: the role, `plan.frames` pieces of text, the finish, the usage, the end. */
export function streamFrames(plan: StreamPlan, model: string = planName(plan)): Buffer[] {
  const chunk = (choices: object[], rest: object = {}) =>
    Buffer.from(
      `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model, choices, ...rest })}\n\n`,
    );
  const piece = (delta: object, reason: string | null) => chunk([{ index: 0, delta, finish_reason: reason }]);
  const frames = [piece({ role: 'assistant', content: '' }, null)];
  for (let i = 0; i < plan.frames; i += 1) {
    frames.push(piece({ content: `${i} `.padEnd(plan.textBytes, 'b') }, null));
  }
  frames.push(piece({}, 'stop'), chunk([], { usage }), Buffer.from('data: [DONE]\n\n'));
  return frames;
}
