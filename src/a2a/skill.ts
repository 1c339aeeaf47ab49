import type { Caller } from '../http/resource.ts';

export type SkillId = 'ask-a-model' | 'explain' | 'report';

/** Who sent a message: a gateway key, a user of the management API, or both at once. */
export interface Identity {
  /** Whose tasks and contexts they see; another identity never sees them. */
  owner: string;
  /** The text of the gateway key; null where none was sent. */
  key: string | null;
  /** Null where no login was sent. */
  caller: Caller | null;
}

export interface ChatMessage {
  role: 'user' | 'assistant';
  text: string;
}

export interface SkillInput {
  text: string;
  metadata: Readonly<Record<string, unknown>>;
  identity: Identity;
  /** The earlier messages of the context, the oldest first. */
  history: readonly ChatMessage[];
  signal: AbortSignal;
}

/** A piece of an answer. */
export type SkillOutput = { kind: 'text'; text: string } | { kind: 'data'; data: object };

export interface Skill {
  /** Whether it takes a key or a login. */
  needs: 'key' | 'caller';
  /** @throws GatewayError with what the sender may read */
  run(input: SkillInput): AsyncIterable<SkillOutput>;
}

/** What the skills may ask of the gateway. */
export interface SkillDeps {
  /** Reads from the management API in the name of a caller. @throws GatewayError */
  read(caller: Caller, path: string, params: URLSearchParams): Promise<Record<string, unknown>>;
  /** Asks a model with a gateway key. @returns the pieces of its answer @throws GatewayError */
  complete(request: CompletionRequest): AsyncIterable<string>;
}

export interface CompletionRequest {
  key: string;
  model: string;
  messages: readonly ChatMessage[];
  signal: AbortSignal;
}
