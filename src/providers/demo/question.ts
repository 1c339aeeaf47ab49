import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';

export const demoModels = ['echo', 'tools'] as const;
export type DemoModel = (typeof demoModels)[number];

/** A tool that the demo can call: the client runs it. */
export interface DemoTool {
  name: string;
  /** The group that the tool belongs to, if any (Responses). */
  namespace: string | null;
  /** `function` takes arguments of `schema`; `custom` takes free text. */
  kind: 'function' | 'custom';
  schema: JsonObject;
}

export type ToolChoice = { kind: 'auto' | 'required' | 'none' } | { kind: 'one'; name: string };

/** What the demo reads out of a request, whatever its format. */
export interface Question {
  /** The last text that the user wrote, '' when there is none. */
  userText: string;
  /** What tools answered, when that is the last thing said. */
  toolResult: string | null;
  tools: readonly DemoTool[];
  choice: ToolChoice;
  /** JSON Schema that the answer must satisfy; null for free text. */
  outputSchema: JsonObject | null;
  /** Most tokens of output; null for no limit. */
  maxTokens: number | null;
  stops: readonly string[];
}

/** Facts of one request that do not depend on its format. */
export interface Context {
  model: DemoModel;
  stream: boolean;
  inputTokens: number;
  /** Unix seconds. */
  created: number;
  /** `prefix` and `length` characters that the request's bytes decide; another `salt` gives others. */
  id(prefix: string, length: number, salt?: string): string;
}

/** What a format answers: one JSON document, or the frames of a stream in order. */
export type FormatAnswer = { kind: 'json'; body: object } | { kind: 'stream'; frames: string[] };

export type AnswerFormat = (body: JsonObject, context: Context) => FormatAnswer;

/** Ids that the body decides, so that the same request always gets the same answer. */
export function idsFrom(body: Buffer): Context['id'] {
  const seed = createHash('sha256').update(body).digest();
  return (prefix, length, salt = '') =>
    prefix + createHash('sha512').update(seed).update(prefix).update(salt).digest('hex').slice(0, length);
}
