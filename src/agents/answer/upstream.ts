import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { codecOf } from '../../codecs/index.ts';
import type { PartWriter, StreamPart } from '../../codecs/model/stream-part.ts';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import type { Lease } from '../pool/pool.ts';
import type { AgentSetup } from '../setup.ts';
import { createAnswerParts } from './answer-parts.ts';
import type { ConversationKeys } from './conversation-key.ts';
import { promptOf } from './prompt.ts';
import type { AgentQuestion } from './question.ts';

export interface AgentTurnInput {
  setup: AgentSetup;
  /** The model as it was asked for, for the answer. */
  model: string;
  question: AgentQuestion;
  keys: ConversationKeys;
  /** @throws GatewayError */
  lease(signal: AbortSignal): Promise<Lease>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Asks an agent on behalf of the data plane, through the calls of an undici handler: what reads the answers of servers
 * reads this one.
 */
export function dispatchTurn(input: AgentTurnInput, handler: Dispatcher.DispatchHandler): void {
  const control = new TurnControl();
  // Asynchronous like a socket, so that the caller has finished setting up.
  setImmediate(() => {
    handler.onRequestStart?.(control, {});
    if (control.aborted) return;
    run(input, control, handler).catch((error: unknown) => {
      if (!control.aborted) handler.onResponseError?.(control, asGatewayError(error, input.setup));
    });
  });
}

/** What the reader of an answer may do to it. */
class TurnControl implements Dispatcher.DispatchController {
  readonly #aborter = new AbortController();
  paused = false;
  /** The agent whose pace follows the reader's; null before there is one. */
  connection: Lease['connection'] | null = null;

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get aborted(): boolean {
    return this.#aborter.signal.aborted;
  }

  get reason(): Error | null {
    return this.aborted ? (this.#aborter.signal.reason as Error) : null;
  }

  abort(reason: Error): void {
    this.#aborter.abort(reason);
  }

  pause(): void {
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    this.paused = false;
    this.connection?.resume();
  }
}

async function run(
  { keys, lease: leased, model, now, question, setup }: AgentTurnInput,
  control: TurnControl,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  const { conversation } = question;
  const lease = await leased(control.signal);
  const { connection, hasEarlierTurns, session } = lease;
  let isKept = false;
  try {
    const images = connection.agent.agentCapabilities?.promptCapabilities?.image === true;
    const blocks = promptOf(conversation, hasEarlierTurns, images);
    const parts = createAnswerParts(setup.showTools);
    const sink = conversation.stream
      ? streamSink(control, handler, writerFor(question, model, now(), true))
      : wholeSink(control, handler, question, model, now());
    control.connection = connection;
    sink.write(parts.start(newId('acp'), model));
    const end = await connection.prompt(session, blocks, {
      signal: control.signal,
      onEvent: (event) => {
        if (!control.aborted) sink.write(parts.event(event));
      },
    });
    // The session is free before the client can ask again.
    isKept = true;
    lease.keep(keys.after(parts.text()));
    sink.end(parts.end(end));
  } finally {
    control.connection = null;
    connection.resume();
    if (!isKept) lease.drop();
  }
}

interface Sink {
  write(parts: readonly StreamPart[]): void;
  end(parts: readonly StreamPart[]): void;
}

const chat = codecOf('openai-chat');

function writerFor(
  { conversation }: AgentQuestion,
  model: string,
  startedAt: number,
  isStream: boolean,
): PartWriter {
  if (chat.conversation === null) throw new Error('the chat format takes part in translation');
  return chat.conversation.writer({
    id: newId('acp'),
    model,
    startedAt,
    includeUsage: !isStream || conversation.includeUsage,
    request: {},
  });
}

function streamSink(control: TurnControl, handler: Dispatcher.DispatchHandler, writer: PartWriter): Sink {
  let begun = false;
  const write = (parts: readonly StreamPart[]) => {
    if (!begun) {
      begun = true;
      const headers: IncomingHttpHeaders = { 'content-type': chat.stream?.contentType };
      handler.onResponseStart?.(control, 200, headers);
    }
    const text = chat.stream?.encode(parts.flatMap((part) => writer.push(part))) ?? '';
    if (text !== '' && !control.aborted) handler.onResponseData?.(control, Buffer.from(text));
  };
  return {
    write,
    end(parts) {
      write(parts);
      if (!control.aborted) handler.onResponseEnd?.(control, {});
    },
  };
}

function wholeSink(
  control: TurnControl,
  handler: Dispatcher.DispatchHandler,
  question: AgentQuestion,
  model: string,
  startedAt: number,
): Sink {
  const writer = writerFor(question, model, startedAt, false);
  const frames: Frame[] = [];
  const write = (parts: readonly StreamPart[]) => {
    for (const part of parts) frames.push(...writer.push(part));
  };
  return {
    write,
    end(parts) {
      write(parts);
      const answer = chat.stream?.assemble(frames) ?? null;
      if (answer === null) throw new Error('the answer of an agent cannot be put together');
      if (control.aborted) return;
      handler.onResponseStart?.(control, 200, { 'content-type': 'application/json' });
      handler.onResponseData?.(control, Buffer.from(JSON.stringify(answer)));
      handler.onResponseEnd?.(control, {});
    },
  };
}

function asGatewayError(error: unknown, { name }: AgentSetup): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('agent_failed', `The agent ${name} could not be asked`, { cause: error });
}
