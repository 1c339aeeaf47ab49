import { type Format, type JsonPlan, planName, type StreamPlan } from './plan.ts';

const usage = { prompt_tokens: 512, completion_tokens: 128, total_tokens: 640 };

/** A whole answer that names `model` and says `content`. */
const writers: Readonly<Record<Format, (model: string, content: string) => object>> = {
  chat: (model, content) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
  }),
  messages: (model, text) => ({
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 512, output_tokens: 128 },
  }),
  responses: (model, text) => ({
    id: 'resp_bench',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model,
    output: [
      {
        type: 'message',
        id: 'item_bench',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 512, output_tokens: 128, total_tokens: 640 },
  }),
  gemini: (modelVersion, text) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 512, candidatesTokenCount: 128, totalTokenCount: 640 },
    modelVersion,
    responseId: 'bench',
  }),
};

/** The body of a whole answer, `plan.answerBytes` long when `model`, which it names, is the plan's own name. */
export function jsonAnswer(plan: JsonPlan, model: string = planName(plan)): Buffer {
  const write = writers[plan.upstream];
  const bare = JSON.stringify(write(planName(plan), '')).length;
  return Buffer.from(JSON.stringify(write(model, 'a'.repeat(Math.max(1, plan.answerBytes - bare)))));
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
