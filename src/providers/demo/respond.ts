import { isUtf8 } from 'node:buffer';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { GatewayError } from '../../lib/error.ts';
import { answerChat } from './chat.ts';
import { answerCompletions } from './completions.ts';
import { answerEmbeddings } from './embeddings.ts';
import { isObject, type JsonObject, optionalFlag } from './json.ts';
import { answerMessages } from './messages.ts';
import { type AnswerFormat, type Context, type DemoModel, demoModels, idsFrom } from './question.ts';
import { answerResponses } from './responses.ts';
import { tokensOf } from './tokens.ts';

export interface DemoAnswer {
  status: number;
  contentType: string;
  /** The body; of a stream, one event each. */
  chunks: Buffer[];
  /** Milliseconds to wait between two chunks. */
  gapMs: number;
}

const GAP_MS = 10;
/** A long answer is not slowed down to more than this. */
const LONGEST_MS = 2000;

/** A request of any other format is translated to one of these on its way. */
const formats: Readonly<Partial<Record<WireFormat, AnswerFormat>>> = {
  'openai-chat': answerChat,
  'openai-responses': answerResponses,
  'openai-completions': answerCompletions,
  'openai-embeddings': answerEmbeddings,
  'anthropic-messages': answerMessages,
};

/**
 * What the built-in provider answers to a request body of `format`: model `echo` repeats the user's text, model
 * `tools` calls a tool that the request offers and then quotes its result. The same body at the same `now`
 * (milliseconds since the epoch) always gets the same bytes. A body that is wrong gets the format's own error.
 */
export function demoAnswer(format: WireFormat, body: Buffer, now: number): DemoAnswer {
  const id = idsFrom(body);
  try {
    const request = parse(body);
    const context: Context = {
      model: readModel(request['model']),
      stream: format !== 'openai-embeddings' && optionalFlag(request, 'stream'),
      inputTokens: tokensOf(body.length),
      created: Math.floor(now / 1000),
      id,
    };
    const answerOf = formats[format];
    if (answerOf === undefined)
      throw new GatewayError('format_not_supported', `The demo does not speak ${format}`);
    const answer = answerOf(request, context);
    if (answer.kind === 'json') return jsonAnswer(200, answer.body);
    const chunks = answer.frames.map((frame) => Buffer.from(frame));
    const gapMs = Math.min(GAP_MS, Math.floor(LONGEST_MS / chunks.length));
    return { status: 200, contentType: 'text/event-stream; charset=utf-8', chunks, gapMs };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return jsonAnswer(error.status, errorBody(format, error, id));
  }
}

function parse(body: Buffer): JsonObject {
  if (!isUtf8(body)) throw new GatewayError('invalid_json', 'the request body is not UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch (error) {
    throw new GatewayError('invalid_json', `the request body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new GatewayError('invalid_json', 'the request body must be a JSON object');
  return value;
}

function readModel(model: unknown): DemoModel {
  const name = demoModels.find((name) => name === model);
  if (name !== undefined) return name;
  if (typeof model !== 'string') {
    throw new GatewayError('missing_model', 'model must be "demo/echo" or "demo/tools"', { param: 'model' });
  }
  throw new GatewayError(
    'model_not_found',
    `the demo has no model "${model.slice(0, 100)}": use demo/echo or demo/tools`,
    { param: 'model' },
  );
}

function jsonAnswer(status: number, body: object): DemoAnswer {
  return { status, contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], gapMs: 0 };
}

/** An error as the format's own API would show it. */
function errorBody(format: WireFormat, error: GatewayError, id: Context['id']): object {
  const { message, param } = error;
  const missing = error.kind === 'not_found';
  const code = error.code === 'invalid_request' || error.code === 'invalid_json' ? null : error.code;
  if (format === 'anthropic-messages') {
    const type = missing ? 'not_found_error' : 'invalid_request_error';
    return { type: 'error', error: { type, message }, request_id: id('req_', 24) };
  }
  return { error: { message, type: 'invalid_request_error', param, code } };
}
