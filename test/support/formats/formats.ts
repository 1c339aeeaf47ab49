import type { ConnectionInput } from '../gateway/gateway.ts';
import {
  type AnswerOptions,
  chatAnswer,
  chatStream,
  type Healthy,
  messagesAnswer,
  messagesStream,
  responsesAnswer,
  responsesStream,
} from '../upstream/answers.ts';

/** What tests need to know of a wire format to run the same case over each. */
export interface Format {
  name: 'chat' | 'responses' | 'messages';
  /** As the ledger calls it. */
  ledger: string;
  path: string;
  /** The model id as the client writes it; the upstream sees `m-1`. */
  model: string;
  /** A request body. */
  request(more?: object): Record<string, unknown>;
  /** What an upstream answers; it calls the model as the client does, so that its bytes are the client's. */
  stream(options?: AnswerOptions): Healthy;
  answer(options?: AnswerOptions): object;
  /** What a client looks for to know that the stream is finished. */
  terminal: string;
  /** An error body in the upstream's own, proper shape. */
  error(message: string, type: string): object;
}

export const chat: Format = {
  name: 'chat',
  ledger: 'openai-chat',
  path: '/v1/chat/completions',
  model: 'up/m-1',
  request: (more = {}) => ({ model: 'up/m-1', messages: [{ role: 'user', content: 'hi' }], ...more }),
  stream: (options) => chatStream({ model: 'up/m-1', ...options }),
  answer: (options) => chatAnswer({ model: 'up/m-1', ...options }),
  terminal: '[DONE]',
  error: (message, type) => ({ error: { message, type, param: null, code: null } }),
};

export const responses: Format = {
  name: 'responses',
  ledger: 'openai-responses',
  path: '/v1/responses',
  model: 'resp/m-1',
  request: (more = {}) => ({ model: 'resp/m-1', input: 'hi', ...more }),
  stream: (options) => responsesStream({ model: 'resp/m-1', ...options }),
  answer: (options) => responsesAnswer({ model: 'resp/m-1', ...options }),
  terminal: 'response.completed',
  error: (message, type) => ({ error: { message, type, param: null, code: null } }),
};

export const messages: Format = {
  name: 'messages',
  ledger: 'anthropic-messages',
  path: '/v1/messages',
  model: 'anth/m-1',
  request: (more = {}) => ({
    model: 'anth/m-1',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  }),
  stream: (options) => messagesStream({ model: 'anth/m-1', ...options }),
  answer: (options) => messagesAnswer({ model: 'anth/m-1', ...options }),
  terminal: 'message_stop',
  error: (message, type) => ({ type: 'error', error: { type, message } }),
};

export const formats = [chat, responses, messages] as const;

/** The bytes of an upstream that calls its model `m-1`, as the client gets them. */
export function asAsked({ model }: Pick<Format, 'model'>, text: string): string {
  return text.replaceAll('"m-1"', JSON.stringify(model));
}

/** One connection for each format, all to the same upstream. */
export function connectionsTo(baseUrl: string): ConnectionInput[] {
  return [
    { provider: 'openai-compatible', name: 'up', baseUrl },
    { provider: 'openai', name: 'resp', baseUrl },
    { provider: 'anthropic-compatible', name: 'anth', baseUrl },
  ];
}
