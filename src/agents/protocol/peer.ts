import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from './line-splitter.ts';

/** Error codes of JSON-RPC 2.0 and of the Agent Client Protocol. */
export const rpcCodes = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  authRequired: -32000,
  resourceNotFound: -32002,
} as const;

/** An error that one side of the connection answers a request with. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** The other side broke a rule of the connection, or a bound that protects this side. */
export class PeerFault extends Error {
  override readonly name = 'PeerFault';
}

export interface PeerLimits {
  /** Bytes of one message. */
  messageBytes: number;
  /** Bytes of lines that are no message, from the start of the connection. */
  strayBytes: number;
  /** Bytes that wait for the other side to read them. */
  unreadBytes: number;
  /** Requests of the other side that are worked on at a time. */
  openRequests: number;
}

export const peerLimits: PeerLimits = {
  messageBytes: 32 * 1024 * 1024,
  strayBytes: 1024 * 1024,
  unreadBytes: 64 * 1024 * 1024,
  openRequests: 64,
};

export interface PeerInput {
  /** Where messages come from. */
  input: Readable;
  /** Where messages go. */
  output: Writable;
  limits: PeerLimits;
  /** Answers a request. @throws RpcError as the answer */
  onRequest(method: string, params: unknown): Promise<unknown>;
  /** Told of a notification. @param bytes of the message */
  onNotification(method: string, params: unknown, bytes: number): void;
  /** Told of a line that is no message. */
  onStray(line: string): void;
  /** Told once when nothing more can come. `fault`: what was wrong; null where the input just ended. */
  onClose(fault: PeerFault | null): void;
}

/** One side of a JSON-RPC 2.0 connection of newline-delimited messages. */
export interface Peer {
  /** The result of a method of the other side. @throws RpcError its answer; Error when the connection closed before */
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Stops reading until `resume()`: the other side has to wait. */
  pause(): void;
  resume(): void;
  /** Ends it: open requests fail with `reason`. */
  close(reason: Error): void;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Message = Record<string, unknown>;

/**
 * Connects two streams. Messages are handled in the order in which they come, so that a result is seen after the
 * notifications before it. Nothing is kept that was not asked for: a side that does not read is not written to
 * without end, and one that floods is cut off.
 */
export function createPeer(input: PeerInput): Peer {
  const { limits, output } = input;
  const lines = new LineSplitter(limits.messageBytes);
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let stray = 0;
  let open = 0;
  let closed: Error | null = null;

  const close = (reason: Error, fault: PeerFault | null) => {
    if (closed !== null) return;
    closed = reason;
    for (const { reject } of pending.values()) reject(reason);
    pending.clear();
    input.input.removeListener('data', onData);
    // Read on, so that the other side can end: what it still says is nothing to anybody.
    input.input.resume();
    input.onClose(fault);
  };
  const fail = (what: string) => {
    const fault = new PeerFault(what);
    close(fault, fault);
  };
  const send = (message: Message) => {
    if (closed !== null || output.destroyed || !output.writable) return;
    output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if (output.writableLength > limits.unreadBytes) fail('it does not read what it is sent');
  };
  const answer = async (id: unknown, method: string, params: unknown) => {
    if (open >= limits.openRequests) {
      send({ id, error: { code: rpcCodes.internal, message: 'Too many requests at a time' } });
      return;
    }
    open += 1;
    try {
      send({ id, result: (await input.onRequest(method, params)) ?? null });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : rpcCodes.internal;
      const message = error instanceof RpcError ? error.message : 'The client failed';
      send({ id, error: { code, message } });
    } finally {
      open -= 1;
    }
  };
  const settle = (id: unknown, message: Message) => {
    const waiting = typeof id === 'number' ? pending.get(id) : undefined;
    if (waiting === undefined) return;
    pending.delete(id as number);
    if ('error' in message) waiting.reject(errorOf(message['error']));
    else waiting.resolve(message['result']);
  };
  const receive = (line: string) => {
    const message = messageIn(line);
    if (message === null) {
      stray += line.length;
      input.onStray(line);
      if (stray > limits.strayBytes) fail('it writes something other than messages to its standard output');
      return;
    }
    const { id, method, params } = message;
    if (typeof method !== 'string') settle(id, message);
    else if (id === undefined) input.onNotification(method, params, line.length);
    else void answer(id, method, params);
  };
  function onData(chunk: Buffer): void {
    let complete: string[];
    try {
      complete = lines.push(chunk);
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
      return;
    }
    for (const line of complete) {
      if (closed !== null) return;
      if (line !== '') receive(line);
    }
  }
  input.input.on('data', onData);
  input.input.once('end', () => close(new Error('the connection ended'), null));
  input.input.once('error', (error) => close(error, null));
  // A side that has gone away is known by its input; writing to it is no failure of its own.
  output.on('error', () => {});

  return {
    request(method, params) {
      if (closed !== null) return Promise.reject(closed);
      const id = nextId;
      nextId += 1;
      const { promise, reject, resolve } = Promise.withResolvers<unknown>();
      pending.set(id, { resolve, reject });
      send({ id, method, params });
      return promise;
    },
    notify: (method, params) => send({ method, params }),
    pause() {
      if (closed === null) input.input.pause();
    },
    resume() {
      input.input.resume();
    },
    close: (reason) => close(reason, null),
  };
}

/** The message that a line is; null for none. */
function messageIn(line: string): Message | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && value['jsonrpc'] === '2.0' ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const MAX_MESSAGE = 500;

function errorOf(error: unknown): RpcError {
  const { code, data, message } = isObject(error) ? error : {};
  const details = isObject(data) && typeof data['details'] === 'string' ? `: ${data['details']}` : '';
  return new RpcError(
    typeof code === 'number' ? code : rpcCodes.internal,
    `${typeof message === 'string' ? message : 'unknown error'}${details}`.slice(0, MAX_MESSAGE),
  );
}
