/** For how long an operation waits for a connection. */
const UNREACHABLE_MS = 5_000;
/** How much longer it may wait, so that many fail together. */
const TOGETHER_MS = 100;
const SILENT_MS = 15_000;
const CONNECT_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** Operations that did not happen, or of which nobody knows whether they did, because the broker is not there. */
class ChannelUnreachable extends Error {}

/** What is connected to. */
interface Connectable<Connection extends Closable> {
  /** @param onLost is called when the connection is of no use any more */
  connect(onLost: (error: Error) => void): Promise<Connection>;
}

interface Closable {
  /** Never rejects. */
  close(): Promise<void>;
}

interface ReconnectingConnectionInput<Connection extends Closable> {
  readonly broker: Connectable<Connection>;
  /** Calls that are not settled at a time. More are refused, so that a broker that hangs does not fill the memory. */
  readonly maxCalls: number;
  /** How long the broker may take for one operation, before its connection counts as lost, in milliseconds. Default 15,000. */
  readonly silentMs?: number;
  onConnected(connection: Connection): void;
  /** Is called once for each time that the broker cannot be reached. */
  onLost(error: Error): void;
}

/** A connection that is made again whenever it is lost, until it is closed. */
export interface ReconnectingConnection<Connection> {
  /** @throws ChannelUnreachable when there is no connection, or it was lost meanwhile */
  run<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Why there is no connection; null when there is one. */
  problem(): string | null;
  close(): Promise<void>;
}

interface Waiter<Connection> {
  /** When it gives up, by `performance.now()`. */
  readonly until: number;
  resolve(connection: Connection): void;
  reject(error: Error): void;
}

export function createReconnectingConnection<Connection extends Closable>(
  input: ReconnectingConnectionInput<Connection>,
): ReconnectingConnection<Connection> {
  const { broker, maxCalls, onConnected, onLost, silentMs = SILENT_MS } = input;
  let current: Connection | null = null;
  let problem: string | null = 'There is no connection yet';
  let closed = false;
  let pause: NodeJS.Timeout | undefined;
  let isReported = false;
  /** Those who wait for a connection, who came first before the others. */
  const waiting = new Set<Waiter<Connection>>();
  let giveUpTimer: NodeJS.Timeout | undefined;
  /** Ends the calls that are under way. */
  const underWay = new Set<(error: Error) => void>();

  const failed = (error: Error) => {
    problem = error.message;
    if (!isReported) onLost(error);
    isReported = true;
  };
  const lose = (connection: Connection, error: Error) => {
    if (connection !== current) return;
    current = null;
    failed(error);
    for (const end of underWay) end(new ChannelUnreachable(`The connection was lost: ${error.message}`));
    void connection.close();
    connectAfter(FIRST_PAUSE_MS);
  };
  const connect = async (pauseMs: number) => {
    try {
      const connection = await connected(broker, lose);
      if (closed) return void connection.close();
      current = connection;
      problem = null;
      isReported = false;
      onConnected(connection);
      clearTimeout(giveUpTimer);
      giveUpTimer = undefined;
      for (const { resolve } of waiting) resolve(connection);
      waiting.clear();
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
      connectAfter(Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
    }
  };
  const connectAfter = (pauseMs: number) => {
    if (!closed) pause = setTimeout(() => void connect(pauseMs), pauseMs);
  };
  void connect(FIRST_PAUSE_MS / 2);

  /** One timer and one error for all whose time is over: while a broker is down, there is a call for every event. */
  const giveUp = () => {
    const error = new ChannelUnreachable(`The message queue cannot be reached: ${problem}`);
    for (const waiter of waiting) {
      if (waiter.until > performance.now()) break;
      waiting.delete(waiter);
      waiter.reject(error);
    }
    giveUpTimer = undefined;
    giveUpLater();
  };
  const giveUpLater = () => {
    const [first] = waiting;
    if (first === undefined) return;
    giveUpTimer ??= setTimeout(giveUp, Math.max(0, first.until - performance.now()) + TOGETHER_MS);
  };
  const connection = (): Promise<Connection> => {
    if (current !== null) return Promise.resolve(current);
    return new Promise((resolve, reject) => {
      waiting.add({ until: performance.now() + UNREACHABLE_MS, resolve, reject });
      giveUpLater();
    });
  };

  return {
    async run(work) {
      if (closed) throw new ChannelUnreachable('The channel is closed');
      if (underWay.size + waiting.size >= maxCalls)
        throw new ChannelUnreachable(`${maxCalls} calls wait for the message queue`);
      const used = await connection();
      if (closed) throw new ChannelUnreachable('The channel is closed');
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(timer);
          underWay.delete(end);
        };
        const end = (error: Error) => {
          settle();
          reject(error);
        };
        const timer = setTimeout(() => {
          const error = new Error(`The message queue did not answer within ${silentMs / 1_000} s`);
          end(new ChannelUnreachable(error.message));
          lose(used, error);
        }, silentMs);
        underWay.add(end);
        work(used).then(
          (result) => {
            settle();
            resolve(result);
          },
          (error: unknown) => end(error instanceof Error ? error : new Error(String(error))),
        );
      });
    },
    problem: () => problem,
    async close() {
      closed = true;
      clearTimeout(pause);
      const error = new ChannelUnreachable('The channel is closed');
      clearTimeout(giveUpTimer);
      for (const { reject } of waiting) reject(error);
      waiting.clear();
      for (const end of underWay) end(error);
      await current?.close();
      current = null;
    },
  };
}

/** @throws when that takes too long; a connection that comes later is closed */
async function connected<Connection extends Closable>(
  broker: Connectable<Connection>,
  lose: (connection: Connection, error: Error) => void,
): Promise<Connection> {
  let made: Connection | null = null;
  let lost: Error | null = null;
  let late = false;
  let timer: NodeJS.Timeout | undefined;
  const connecting = broker.connect((error) => {
    lost = error;
    if (made !== null) lose(made, error);
  });
  connecting.then(
    (connection) => {
      if (late) void connection.close();
    },
    () => {},
  );
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true;
      reject(new Error(`There was no connection within ${CONNECT_MS / 1_000} s`));
    }, CONNECT_MS);
  });
  try {
    made = await Promise.race([connecting, tooLong]);
  } finally {
    clearTimeout(timer);
  }
  if (lost === null) return made;
  void made.close();
  throw lost;
}
