import type { JsonObject } from '../files/value.ts';

/**
 * The first request of a conversation as a tool sends it: every field, header and kind of tool that it has, without its
 * texts. So it shows what a model of another format is not sent.
 */
export interface Sample {
  /** Behind the base address that the tool is given; `<model>` stands for the model, as in the body. */
  path: string;
  /** Without the key. */
  headers: Readonly<Record<string, string>>;
  body: JsonObject;
  /** Bytes of the request that was seen, nearly all of them instructions and tools; the model has to take that many. */
  bytes: number;
  /** The tool that the model is asked to call. */
  calls: string;
  /** The package that was seen sending it; null for what every client of the API sends. */
  seenIn: string | null;
}

/** The instructions and the question. No text of a vendor. */
export const instructions = 'You are a coding agent. This request checks the way from a tool to its model.';

export function question(calls: string): string {
  return `Call the tool "${calls}" once, for the file note.txt.`;
}

export const draft2020 = 'https://json-schema.org/draft/2020-12/schema';
export const draft7 = 'http://json-schema.org/draft-07/schema#';

/** The schema of a tool's arguments: a path, and whatever else a tool of its kind asks for. */
export function argumentsOf(properties: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { path: { type: 'string', description: 'Path of the file' }, ...properties },
    required: ['path'],
    ...more,
  };
}
