import {
  createInbox,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  type Subscription,
} from '@nats-io/transport-node';

/** For how long one request for messages stays with the server; who stops waits for that. */
const REQUEST_MS = 500;
/** How much later the server may say that a request is over, before it counts as forgotten. */
const LATE_MS = 4_000;

const CONTROL = { accepted: '+ACK', notAccepted: '-NAK', inProgress: '+WPI' } as const;
/** What the server says of a request: there is nothing, or its time is over. */
const overCodes: ReadonlySet<number> = new Set([404, 408]);
const HEARTBEAT = 100;

/** A message of a stream, as a consumer is given it. */
export interface StreamMessage {
  readonly data: Uint8Array;
  readonly headers: MsgHdrs | undefined;
  /** Its number in the stream. */
  readonly sequence: number;
  /** When the stream took it: nanoseconds since the epoch. */
  readonly time: string;
  /** Whether it was delivered before. */
  readonly redelivered: boolean;
  /** Resolves when the server knows that the message is done with. */
  ack(): Promise<void>;
  /** The server gives it to whoever asks next. */
  giveBack(): void;
  /** The server waits for longer. */
  inProgress(): void;
}

export interface PullInput {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: string;
  /** How long the server may take to confirm an ack, in milliseconds. */
  readonly timeoutMs: number;
  message(message: StreamMessage): void;
}

/** Asks the server for messages, one request after the other. */
export interface Pull {
  /**
   * Resolves when that many messages have come, or the server has had no more for half a second.
   * @throws when the server refuses: the consumer is gone, or nobody answers
   */
  request(count: number): Promise<void>;
  /** Call it when no request is under way: what comes later is lost until the server gives it again. */
  close(): void;
}

interface Request {
  readonly subject: string;
  remaining: number;
  end(): void;
  fail(error: Error): void;
}

/**
 * The library's own requests drop what is on its way when they are closed, and the server gives that again only when the time for
 * an ack is over: behind everything that came meanwhile. Here each request ends at the server, so that nothing is on its way then.
 */
export function createPull({ connection, consumer, message, stream, timeoutMs }: PullInput): Pull {
  const inbox = createInbox();
  let number = 0;
  let current: Request | null = null;
  const status = (subject: string, head: MsgHdrs | undefined) => {
    const code = head?.code ?? 0;
    if (code === HEARTBEAT || current === null || subject !== current.subject) return;
    if (overCodes.has(code)) current.end();
    else current.fail(new Error(`NATS gives no messages: ${head?.description || code}`));
  };
  const subscription: Subscription = connection.subscribe(`${inbox}.*`, {
    callback(error, received) {
      if (error !== null) current?.fail(error);
      else if (received.subject.startsWith(`${inbox}.`)) status(received.subject, received.headers);
      else {
        message(messageOf(connection, received, timeoutMs));
        if (current !== null) current.remaining -= 1;
        if (current?.remaining === 0) current.end();
      }
    },
  });
  void connection.closed().then(() => current?.end());
  return {
    async request(count) {
      number += 1;
      const subject = `${inbox}.${number}`;
      let timer: NodeJS.Timeout | undefined;
      try {
        await new Promise<void>((end, fail) => {
          current = { subject, remaining: count, end, fail };
          timer = setTimeout(end, REQUEST_MS + LATE_MS);
          const request = JSON.stringify({ batch: count, expires: nanos(REQUEST_MS) });
          connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: subject });
        });
      } finally {
        clearTimeout(timer);
        current = null;
      }
    },
    close: () => subscription.unsubscribe(),
  };
}

/** Where its ack goes tells the rest: `$JS.ACK.….<deliveries>.<sequence>.<number>.<time>.<waiting>`, or with a part more at the end. */
function messageOf(
  connection: NatsConnection,
  { data, headers, reply = '' }: Msg,
  timeoutMs: number,
): StreamMessage {
  const parts = reply.split('.');
  // With a domain, an account and a random part, or without.
  const first = parts.length > 9 ? 6 : 4;
  const [deliveries, sequence, , time] = parts.slice(first);
  return {
    data,
    headers,
    sequence: Number(sequence),
    time: time ?? '',
    redelivered: Number(deliveries) > 1,
    async ack() {
      await connection.request(reply, CONTROL.accepted, { timeout: timeoutMs });
    },
    giveBack: () => connection.publish(reply, CONTROL.notAccepted),
    inProgress: () => connection.publish(reply, CONTROL.inProgress),
  };
}
