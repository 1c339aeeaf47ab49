import { codecOf } from '../../../src/codecs/index.ts';
import type { StreamPart } from '../../../src/codecs/model/stream-part.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';
import { type AnswerOptions, chatStream, messagesStream, responsesStream } from '../upstream/answers.ts';
import { completionsStream, geminiStream, ollamaStream } from '../upstream/answers-native.ts';

/** The formats that are translated into each other. */
export const conversing = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'ollama',
] as const satisfies readonly WireFormat[];
export type Conversing = (typeof conversing)[number];

/** Every format of a client with every format of an upstream. */
export const pairs = conversing.flatMap((client) => conversing.map((upstream) => ({ client, upstream })));
export type Pair = (typeof pairs)[number];

/** A provider that speaks each of them and no other that is translated. */
export const speakerOf: Readonly<Record<Conversing, string>> = {
  'openai-chat': 'mistral',
  'openai-completions': 'completions-compatible',
  'openai-responses': 'responses-compatible',
  'anthropic-messages': 'anthropic-compatible',
  gemini: 'gemini-compatible',
  ollama: 'ollama-compatible',
};

/** How a client of each format asks for a stream of `model`. */
export function streamRequest(
  format: Conversing,
  model: string,
  key: string,
): { path: string; body: Record<string, unknown> } {
  const messages = [{ role: 'user', content: 'hi' }];
  switch (format) {
    case 'openai-chat':
      return { path: '/v1/chat/completions', body: { model, stream: true, messages } };
    case 'openai-completions':
      return { path: '/v1/completions', body: { model, stream: true, prompt: 'hi' } };
    case 'openai-responses':
      return { path: '/v1/responses', body: { model, stream: true, input: 'hi', store: false } };
    case 'anthropic-messages':
      return { path: '/v1/messages', body: { model, stream: true, max_tokens: 50, messages } };
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
        body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      };
    case 'ollama':
      return { path: `/api/v1/editor/${key}/api/chat`, body: { model, stream: true, messages } };
  }
}

/** The format in which an upstream is asked, by its path. */
export function formatAsked(path: string): Conversing {
  if (path.includes('/messages')) return 'anthropic-messages';
  if (path.includes('/responses')) return 'openai-responses';
  if (path.includes('Content')) return 'gemini';
  if (path.includes('/api/chat')) return 'ollama';
  return path.includes('/chat/completions') ? 'openai-chat' : 'openai-completions';
}

/** A healthy stream, cut after the frames that commit to nothing and after each piece of content. */
export function streamIn(
  format: Conversing,
  options: AnswerOptions = {},
): { preamble: string; content: string[]; text: string } {
  switch (format) {
    case 'openai-chat':
      return chatStream(options);
    case 'openai-responses':
      return responsesStream(options);
    case 'anthropic-messages':
      return messagesStream(options);
    default: {
      const make = { 'openai-completions': completionsStream, gemini: geminiStream, ollama: ollamaStream }[
        format
      ];
      const text = make(options);
      const frames = text.split(format === 'ollama' ? /(?<=\n)/ : /(?<=\n\r?\n)/);
      return { preamble: '', content: frames, text };
    }
  }
}

export const streamType = (format: Conversing): Record<string, string> => ({
  'content-type': format === 'ollama' ? 'application/x-ndjson' : 'text/event-stream',
});

/** A failure inside HTTP 200, as servers of the format report it. */
export function errorIn(format: Conversing, message: string): string {
  switch (format) {
    case 'anthropic-messages':
      return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message } })}\n\n`;
    case 'openai-responses':
      return `event: error\ndata: ${JSON.stringify({ type: 'error', code: 'server_error', message, param: null })}\n\n`;
    case 'gemini':
      return `data: ${JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } })}\r\n\r\n`;
    case 'ollama':
      return `${JSON.stringify({ error: message })}\n`;
    default:
      return `data: ${JSON.stringify({ error: { message, type: 'server_error', code: 503 } })}\n\n`;
  }
}

/** What a client understands of a stream: its parts, and all visible text. */
export function understood(
  format: Conversing,
  bytes: Buffer,
): { parts: StreamPart[]; text: string; rest: string } {
  const { conversation, stream } = codecOf(format);
  if (conversation === null || stream === null) throw new Error(format);
  const reader = conversation.reader();
  const { frames, rest } = stream.split(bytes);
  const parts = [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
  const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
  return { parts, text, rest: rest.toString() };
}
