import type { AnswerOptions } from './answers.ts';

/** Answers in the formats of Google and Ollama, as whole streams. */

const parts = { model: 'm-1', text: ['Hel', 'lo, ', 'wörld 🙂'], reasoning: [], tools: [] } as const;

/** Gemini's `streamGenerateContent?alt=sse`: calls come whole, the last chunk has the reason and the usage. */
export function geminiStream(options: AnswerOptions = {}): string {
  const { model, reasoning, text, tools } = { ...parts, ...options };
  const usageMetadata = options.usage ?? {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 20,
    totalTokenCount: 120,
  };
  const chunk = (part: object, rest: object = {}) =>
    `data: ${JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...rest }],
      usageMetadata,
      modelVersion: model,
      responseId: 'resp-1',
    })}\r\n\r\n`;
  return [
    ...reasoning.map((thought) => chunk({ text: thought, thought: true })),
    ...text.map((piece) => chunk({ text: piece })),
    ...tools.map((tool, index) =>
      chunk({
        functionCall: { name: tool.name, args: JSON.parse(tool.arguments) },
        ...(index === 0 ? { thoughtSignature: 'c2ln' } : {}),
      }),
    ),
    chunk({ text: '' }, { finishReason: 'STOP' }),
  ].join('');
}

/** Ollama's `/api/chat`: one object a line, the last with the counts. */
export function ollamaStream(options: AnswerOptions = {}): string {
  const { model, reasoning, text, tools } = { ...parts, ...options };
  const base = { model, created_at: '2026-11-21T10:00:00.000Z' };
  const line = (message: object, rest: object = { done: false }) =>
    `${JSON.stringify({ ...base, message: { role: 'assistant', content: '', ...message }, ...rest })}\n`;
  const counts = {
    total_duration: 5,
    load_duration: 1,
    prompt_eval_count: 100,
    prompt_eval_duration: 1,
    eval_count: 20,
    eval_duration: 3,
  };
  return [
    ...reasoning.map((thinking) => line({ thinking })),
    ...text.map((content) => line({ content })),
    ...tools.map(({ arguments: args, name }) =>
      line({ tool_calls: [{ function: { name, arguments: JSON.parse(args) } }] }),
    ),
    line({}, { done: true, done_reason: 'stop', ...counts }),
  ].join('');
}

/** The older completions: records with a `text`, the last with the usage, and the mark of the end. */
export function completionsStream(options: AnswerOptions = {}): string {
  const { model, text } = { ...parts, ...options };
  const record = (value: object) =>
    `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', created: 1, model, ...value })}\n\n`;
  const choice = (piece: string, finish: string | null = null) =>
    record({ choices: [{ index: 0, text: piece, logprobs: null, finish_reason: finish }] });
  const usage = options.usage ?? { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
  return `${text.map((piece) => choice(piece)).join('')}${choice('', 'stop')}${record({ choices: [], usage })}data: [DONE]\n\n`;
}
