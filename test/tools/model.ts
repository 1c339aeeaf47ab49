import { type AnswerOptions, chatStream, messagesStream } from '../support/answers.ts';
import { json, type Step, stream } from '../support/steps.ts';
import type { SeenRequest } from '../support/upstream.ts';

/** A word that stands in a note and nowhere else. */
export const word = 'periwinkle';
export const prompt = 'Read the file note.txt and tell me the word in it';
export const said = new RegExp(`The word is ${word}, and 🙂\\.`);

export interface Body {
  tools?: { name?: string; function?: { name: string } }[];
  messages: unknown[];
}

/** Upstreams by their format: what a request to them asks for, and how they answer. */
export const upstreams = {
  chat: {
    model: 'up/m-1',
    answer: (options: AnswerOptions) => chatStream(options).text,
    result: '"role":"tool"',
  },
  messages: {
    model: 'anth/m-1',
    answer: (options: AnswerOptions) => messagesStream(options).text,
    result: '"type":"tool_result"',
  },
} as const;

export type UpstreamFormat = (typeof upstreams)[keyof typeof upstreams];

/** What a model would do: use the tool to read the note, then say what is in it. */
export function modelThatReads(
  { answer, result }: UpstreamFormat,
  toolName: RegExp,
  input: (body: Body) => object,
) {
  return (request: SeenRequest): readonly Step[] => {
    if (request.method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
    const text = request.body.toString('utf8');
    const body = JSON.parse(text) as Body;
    const name = (body.tools ?? [])
      .map((tool) => tool.function?.name ?? tool.name ?? '')
      .find((one) => toolName.test(one));
    const seen = text.includes(result) && text.includes(word);
    if (name === undefined) return [stream(answer({ text: ['Notes'] }))];
    const call = { id: 'call_note', name, arguments: JSON.stringify(input(body)) };
    const options = seen ? { text: ['The word is ', `${word}, and 🙂.`] } : { text: [], tools: [call] };
    return [stream(answer({ ...options, reasoning: ['Hm.'] }), 'frame')];
  };
}
