import type { GatewayError } from '../../lib/error.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { AnswerSink } from '../request/outcome.ts';
import { type OutgoingRequest, withoutBytes } from '../request/outgoing.ts';
import type { AttemptReader } from '../upstream/attempt.ts';
import type { ClientStream } from './client-stream.ts';

/** What the reader of an answer has: whose answer it is, where it goes, and the callbacks for its outcome. */
export interface ReaderContext {
  readonly facts: RequestFacts;
  readonly request: OutgoingRequest;
  /** Where frames go, whichever targets are asked; a whole answer goes to the exchange itself. */
  readonly client: ClientStream;
  readonly sink: AnswerSink;
  /** A text of the upstream without what the target's connection proves itself with. */
  redact(this: void, text: string): string;
}

/** Carries an upstream's answer to the client; beside the upstream, the client has its say. */
export interface AnswerReader extends AttemptReader {
  /** The client left: what was used up to now is what counts. */
  onClientGone(): void;
  /** Ends an open stream with the dialect's error because the gateway stops. */
  interrupt(error: GatewayError): void;
  /**
   * Whether a keep-alive may go to the client now: it has no half of a frame, and the answer is not one that goes out in
   * one piece, with a status of its own.
   */
  takesKeepAlive(): boolean;
}

/** The same once the request's bytes are not needed any more. */
export function released(context: ReaderContext): ReaderContext {
  return { ...context, request: withoutBytes(context.request) };
}
