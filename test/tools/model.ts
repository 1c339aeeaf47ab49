import { connectionsTo } from '../support/formats/formats.ts';
import type { ConnectionInput } from '../support/gateway/gateway.ts';
import {
  type AnswerOptions,
  chatStream,
  messagesStream,
  responsesStream,
} from '../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../support/upstream/answers-native.ts';
import { json, type Step, stream } from '../support/upstream/steps.ts';
import type { SeenRequest } from '../support/upstream/upstream.ts';

/** A word that stands in a note and nowhere else. */
export const word = 'periwinkle';
export const prompt = 'Read the file note.txt and tell me the word in it';
export const said = new RegExp(`The word is ${word}, and 🙂\\.`);

interface NamedTool {
  name?: string;
  function?: { name: string };
  functionDeclarations?: { name: string }[];
}

export interface Body {
  tools?: NamedTool[];
  messages: unknown[];
}

interface UpstreamFormat {
  /** A model of it, as a caller names it. */
  model: string;
  /** What it answers, as a stream. */
  answer(options: AnswerOptions): string;
  /** What a request has that brings a tool's result. */
  result: string;
  headers?: Readonly<Record<string, string>>;
}

/** Upstreams by their format: what a request to them asks for, and how they answer. */
export const upstreams = {
  chat: {
    model: 'up/m-1',
    answer: (options) => chatStream(options).text,
    result: '"role":"tool"',
  },
  messages: {
    model: 'anth/m-1',
    answer: (options) => messagesStream(options).text,
    result: '"type":"tool_result"',
  },
  responses: {
    model: 'only-resp/m-1',
    answer: (options) => responsesStream(options).text,
    result: 'call_output"',
  },
  gemini: { model: 'goog/m-1', answer: geminiStream, result: '"functionResponse"' },
  ollama: {
    model: 'olla/m-1',
    answer: ollamaStream,
    result: '"role":"tool"',
    headers: { 'content-type': 'application/x-ndjson' },
  },
} as const satisfies Readonly<Record<string, UpstreamFormat>>;

/** Connections to an upstream that answers in every format. */
export const connectionsToAll = (baseUrl: string): ConnectionInput[] => [
  ...connectionsTo(baseUrl),
  { provider: 'responses-compatible', name: 'only-resp', baseUrl },
  { provider: 'gemini-compatible', name: 'goog', baseUrl },
  { provider: 'ollama-compatible', name: 'olla', baseUrl },
];

/** What a model would do: use the tool to read the note, then say what is in it. */
export function modelThatReads(
  { answer, headers, result }: UpstreamFormat,
  toolName: RegExp,
  input: (body: Body) => object,
) {
  return (request: SeenRequest): readonly Step[] => {
    if (request.method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
    const text = request.body.toString('utf8');
    const body = JSON.parse(text) as Body;
    const name = (body.tools ?? [])
      .flatMap((tool) => tool.functionDeclarations ?? [tool.function ?? tool])
      .map((tool) => tool.name ?? '')
      .find((one) => toolName.test(one));
    const seen = text.includes(result) && text.includes(word);
    if (name === undefined) return [stream(answer({ text: ['Notes'] }), 'whole', headers)];
    const call = { id: 'call_note', name, arguments: JSON.stringify(input(body)) };
    const options = seen ? { text: ['The word is ', `${word}, and 🙂.`] } : { text: [], tools: [call] };
    return [stream(answer({ ...options, reasoning: ['Hm.'] }), 'frame', headers)];
  };
}
