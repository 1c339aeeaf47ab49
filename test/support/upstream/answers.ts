/** A healthy answer in one wire format, in the parts that tests cut it at. */
export interface Healthy {
  /** Frames that commit to nothing. */
  preamble: string;
  /** One frame or group of frames for each piece of content. */
  content: string[];
  /** What ends the stream as its format requires, usage included. */
  ending: string;
  /** All of it. */
  text: string;
}

export interface AnswerOptions {
  model?: string;
  /** Pieces of visible text. */
  text?: readonly string[];
  reasoning?: readonly string[];
  tools?: readonly { id: string; name: string; arguments: string }[];
  /** The usage object in the format's own shape; null sends none. */
  usage?: object | null;
}

const defaults = { model: 'm-1', text: ['Hel', 'lo, ', 'wörld 🙂'], reasoning: [], tools: [] } as const;

export const chatUsage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
export const responsesUsage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 17,
};
export const messagesUsage = { input_tokens: 12, output_tokens: 5 };

function healthy(preamble: string, content: string[], ending: string): Healthy {
  return { preamble, content, ending, text: preamble + content.join('') + ending };
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

/** OpenAI chat completions, streamed, with the usage chunk that `include_usage` asks for. */
export function chatStream(options: AnswerOptions = {}): Healthy {
  const { model, reasoning, text, tools } = { ...defaults, ...options };
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
  const delta = (value: object, finish: string | null = null) =>
    data({ ...base, choices: [{ index: 0, delta: value, finish_reason: finish }] });
  const content = [
    ...reasoning.map((piece) => delta({ reasoning_content: piece })),
    ...text.map((piece) => delta({ content: piece })),
    ...tools.map((tool, index) => chatToolFrames(tool, index, delta)),
  ];
  const usage = options.usage === undefined ? chatUsage : options.usage;
  const finish = delta({}, tools.length > 0 ? 'tool_calls' : 'stop');
  const last = usage === null ? '' : data({ ...base, choices: [], usage });
  return healthy(delta({ role: 'assistant', content: '' }), content, `${finish}${last}data: [DONE]\n\n`);
}

function chatToolFrames(
  tool: { id: string; name: string; arguments: string },
  index: number,
  delta: (value: object) => string,
): string {
  const half = Math.ceil(tool.arguments.length / 2);
  const pieces = [tool.arguments.slice(0, half), tool.arguments.slice(half)];
  return [
    { index, id: tool.id, type: 'function', function: { name: tool.name, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ]
    .map((call) => delta({ tool_calls: [call] }))
    .join('');
}

export function chatAnswer(options: AnswerOptions = {}): object {
  const { model, text } = { ...defaults, ...options };
  const usage = options.usage === undefined ? chatUsage : options.usage;
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text.join('') }, finish_reason: 'stop' }],
    ...(usage === null ? {} : { usage }),
  };
}

/** OpenAI responses, streamed. */
export function responsesStream(options: AnswerOptions = {}): Healthy {
  const { model, reasoning, text, tools } = { ...defaults, ...options };
  const usage = options.usage === undefined ? responsesUsage : options.usage;
  let sequence = 0;
  const send = (type: string, value: object) => {
    sequence += 1;
    return event({ type, sequence_number: sequence, ...value } as { type: string });
  };
  const response = (status: string, output: unknown[]) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    model,
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: status === 'completed' ? usage : null,
  });
  const preamble =
    send('response.created', { response: response('in_progress', []) }) +
    send('response.in_progress', { response: response('in_progress', []) });
  const items: object[] = [];
  const content: string[] = [];
  if (reasoning.length > 0) content.push(reasoningFrames(reasoning, items, send));
  if (text.length > 0) content.push(...textFrames(text, items, send));
  for (const tool of tools) content.push(toolFrames(tool, items, send));
  const ending = send('response.completed', { response: response('completed', items) });
  return healthy(preamble, content, ending);
}

type Send = (type: string, value: object) => string;

function reasoningFrames(reasoning: readonly string[], items: object[], send: Send): string {
  const output_index = items.length;
  const at = { item_id: 'rs_1', output_index, summary_index: 0 };
  const item = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: reasoning.join('') }],
  };
  items.push(item);
  return [
    send('response.output_item.added', { output_index, item: { ...item, summary: [] } }),
    ...reasoning.map((delta) => send('response.reasoning_summary_text.delta', { ...at, delta })),
    send('response.reasoning_summary_text.done', { ...at, text: reasoning.join('') }),
    send('response.output_item.done', { output_index, item }),
  ].join('');
}

function textFrames(text: readonly string[], items: object[], send: Send): string[] {
  const output_index = items.length;
  const at = { item_id: 'msg_1', output_index, content_index: 0 };
  const part = { type: 'output_text', text: text.join(''), annotations: [] };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
  items.push(item);
  const started =
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    }) + send('response.content_part.added', { ...at, part: { ...part, text: '' } });
  const deltas = text.map((delta) => send('response.output_text.delta', { ...at, delta }));
  const done =
    send('response.output_text.done', { ...at, text: part.text }) +
    send('response.content_part.done', { ...at, part }) +
    send('response.output_item.done', { output_index, item });
  return deltas.map((delta, index) => {
    const before = index === 0 ? started : '';
    return before + delta + (index === deltas.length - 1 ? done : '');
  });
}

function toolFrames(
  tool: { id: string; name: string; arguments: string },
  items: object[],
  send: Send,
): string {
  const output_index = items.length;
  const item = {
    id: `fc_${output_index}`,
    type: 'function_call',
    status: 'completed',
    call_id: tool.id,
    name: tool.name,
    arguments: tool.arguments,
  };
  items.push(item);
  const at = { item_id: item.id, output_index };
  return [
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', arguments: '' },
    }),
    send('response.function_call_arguments.delta', { ...at, delta: tool.arguments }),
    send('response.function_call_arguments.done', { ...at, name: tool.name, arguments: tool.arguments }),
    send('response.output_item.done', { output_index, item }),
  ].join('');
}

export function responsesAnswer(options: AnswerOptions = {}): object {
  const { ending } = responsesStream(options);
  const line = ending.split('\n').find((text) => text.startsWith('data: ')) ?? '';
  const parsed: { response: object } = JSON.parse(line.slice(6));
  return parsed.response;
}

/** Anthropic messages, streamed. */
export function messagesStream(options: AnswerOptions = {}): Healthy {
  const { model, reasoning, text, tools } = { ...defaults, ...options };
  const usage = { ...messagesUsage, ...(options.usage ?? {}) };
  const none = options.usage === null;
  const preamble =
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(none ? {} : { usage: { ...usage, output_tokens: 1 } }),
      },
    } as { type: string }) + event({ type: 'ping' });
  const content: string[] = [];
  let index = 0;
  const block = (start: object, deltas: object[]): string[] => {
    const at = index;
    index += 1;
    const frames = deltas.map((delta) =>
      event({ type: 'content_block_delta', index: at, delta } as { type: string }),
    );
    const first = event({ type: 'content_block_start', index: at, content_block: start } as { type: string });
    const last = event({ type: 'content_block_stop', index: at } as { type: string });
    if (frames.length === 0) return [first + last];
    return frames.map(
      (frame, number) => (number === 0 ? first : '') + frame + (number === frames.length - 1 ? last : ''),
    );
  };
  if (reasoning.length > 0) {
    const deltas = reasoning.map((thinking) => ({ type: 'thinking_delta', thinking }));
    content.push(
      ...block({ type: 'thinking', thinking: '', signature: '' }, [
        ...deltas,
        { type: 'signature_delta', signature: 'c2ln' },
      ]),
    );
  }
  if (text.length > 0)
    content.push(
      ...block(
        { type: 'text', text: '' },
        text.map((piece) => ({ type: 'text_delta', text: piece })),
      ),
    );
  for (const tool of tools) {
    content.push(
      ...block({ type: 'tool_use', id: tool.id, name: tool.name, input: {} }, [
        { type: 'input_json_delta', partial_json: tool.arguments },
      ]),
    );
  }
  const delta = { stop_reason: tools.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
  const ending =
    event({
      type: 'message_delta',
      delta,
      ...(none ? {} : { usage: { output_tokens: usage.output_tokens } }),
    } as { type: string }) + event({ type: 'message_stop' });
  return healthy(preamble, content, ending);
}

export function messagesAnswer(options: AnswerOptions = {}): object {
  const { model, text } = { ...defaults, ...options };
  const usage = options.usage === undefined ? messagesUsage : options.usage;
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: text.join('') }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...(usage === null ? {} : { usage }),
  };
}
