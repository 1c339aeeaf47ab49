import { type ErrorCode, GatewayError } from '../lib/error.ts';

/** What may be asked, by its name: the question and its answer, both as structured clones carry them. */
export type Questions = Record<string, { question: unknown; answer: unknown }>;

/** Who answers the questions of the other side. */
export type Answers<Asked extends Questions> = {
  [Kind in keyof Asked]: (question: Asked[Kind]['question']) => Promise<Asked[Kind]['answer']>;
};

/** One end of the channel between the owner of a data directory and one of its workers. */
export interface Channel<Told, Asked extends Questions> {
  /** Tells the other side something, in the order of the calls and together with what else is told soon. */
  tell(event: Told): void;
  /**
   * Asks the other side. Everything that was told before arrives before the question.
   * @throws GatewayError as the other side threw it, `shutting_down` when the other side is gone
   */
  ask<Kind extends keyof Asked & string>(
    kind: Kind,
    question: Asked[Kind]['question'],
  ): Promise<Asked[Kind]['answer']>;
  /** Takes a message of the other side. */
  receive(message: unknown): void;
  /** About how many bytes were told that the system has not taken yet, for the other side does not read. */
  waiting(): number;
  /** Fails what was asked and not answered: the other side is gone. */
  close(): void;
}

export interface ChannelInput<Heard, Told, Answered extends Questions> {
  /** Sends a message, and calls `taken` once the system has it. What cannot be sent any more is dropped by it. */
  send(message: unknown, taken: () => void): void;
  /** For how long what is told may wait for more, in milliseconds. */
  delayMs: number;
  hear(event: Heard): void;
  answers: Answers<Answered>;
  /** Whether an event goes at the end of this turn of the event loop, with what was told before. Default: none does. */
  isUrgent?(event: Told): boolean;
  /** About how many bytes an event has, where that is counted. */
  sizeOf?(event: Told): number;
  /** Called with a fault while hearing an event. */
  onError(error: unknown): void;
}

type Item =
  | { type: 'event'; event: unknown }
  | { type: 'question'; id: number; kind: string; question: unknown }
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failure'; id: number; failure: SentError };

interface SentError {
  /** Null for a fault of the program, which has no code. */
  code: ErrorCode | null;
  message: string;
  param: string | null;
  retryAfter: number | null;
  headers: Readonly<Record<string, string>>;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/**
 * A channel over anything that keeps the order of its messages. What is told in one turn of the event loop, and within
 * `delayMs`, goes in one message, for a message costs more than what is in it.
 */
export function createChannel<Heard, Told, Asked extends Questions, Answered extends Questions>(
  input: ChannelInput<Heard, Told, Answered>,
): Channel<Told, Asked> {
  let items: Item[] = [];
  let timer: NodeJS.Timeout | null = null;
  let soon = false;
  let closed = false;
  let lastId = 0;
  /** Of what is in `items`, and of all that is not sent. */
  let gathered = 0;
  let unsent = 0;
  const waiting = new Map<number, Waiting>();

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    soon = false;
    if (items.length === 0 || closed) return;
    const [message, size] = [items, gathered];
    items = [];
    gathered = 0;
    input.send(message, () => {
      unsent -= size;
    });
  };
  const push = (item: Item, urgent: boolean): void => {
    items.push(item);
    if (urgent && !soon) {
      soon = true;
      setImmediate(flush);
    } else if (!soon) timer ??= setTimeout(flush, input.delayMs);
  };
  const answer = async (id: number, kind: string, question: unknown): Promise<void> => {
    try {
      const asked = input.answers[kind];
      if (asked === undefined) throw new Error(`nobody answers "${kind}"`);
      push({ type: 'answer', id, answer: await asked(question) }, true);
    } catch (error) {
      push({ type: 'failure', id, failure: sentError(error) }, true);
    }
  };
  const take = (item: Item): void => {
    switch (item.type) {
      case 'event':
        input.hear(item.event as Heard);
        return;
      case 'question':
        void answer(item.id, item.kind, item.question);
        return;
      case 'answer':
        waiting.get(item.id)?.resolve(item.answer);
        waiting.delete(item.id);
        return;
      case 'failure':
        waiting.get(item.id)?.reject(receivedError(item.failure));
        waiting.delete(item.id);
    }
  };

  return {
    tell(event) {
      const size = input.sizeOf?.(event) ?? 0;
      gathered += size;
      unsent += size;
      push({ type: 'event', event }, input.delayMs === 0 || input.isUrgent?.(event) === true);
    },
    ask(kind, question) {
      if (closed) return Promise.reject(gone());
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        // The other side answers a question with the answer of its kind.
        waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
        push({ type: 'question', id, kind, question }, true);
      });
    },
    receive(message) {
      for (const item of message as Item[]) {
        try {
          take(item);
        } catch (error) {
          input.onError(error);
        }
      }
    },
    waiting: () => unsent,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      for (const { reject } of waiting.values()) reject(gone());
      waiting.clear();
    },
  };
}

function gone(): GatewayError {
  return new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
    retryAfter: 5,
  });
}

function sentError(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof GatewayError))
    return { code: null, message, param: null, retryAfter: null, headers: {} };
  const { code, headers, param, retryAfter } = error;
  return { code, message, param, retryAfter, headers };
}

function receivedError({ code, headers, message, param, retryAfter }: SentError): Error {
  if (code === null) return new Error(message);
  return new GatewayError(code, message, {
    headers,
    ...(param === null ? {} : { param }),
    ...(retryAfter === null ? {} : { retryAfter }),
  });
}
