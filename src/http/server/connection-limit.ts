import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config } from '../../config.ts';
import { GatewayError } from '../../lib/error.ts';
import { createIndexedSet, type IndexedMember } from '../../lib/indexed-set.ts';
import type { Log } from '../../lib/log.ts';

export interface ConnectionLimitOptions {
  /** How many connections of clients may be open at once. */
  max: number;
  /** The sockets of the requests that are being answered. */
  busy(): Iterable<Duplex>;
  /** Whether requests to this path are answered beyond the limit too. */
  isProbe(path: string): boolean;
  /** Answers a connection that has not sent a request, and closes it. */
  refuse(socket: Duplex, error: GatewayError): void;
  /** Called with each connection for which another one was closed, or which was refused itself. */
  onCrowded?(): void;
}

export interface ConnectionLimit {
  /** Whether a connection is one of the few beyond the limit, which end with the answer to their first request. */
  isBeyond(socket: Duplex): boolean;
  /** @throws GatewayError `too_many_connections` for a request on a connection beyond the limit */
  admit(request: IncomingMessage): void;
  /** Notes that the connection carries something other than requests from now on. */
  upgraded(socket: Duplex): void;
}

interface Connection extends IndexedMember {
  socket: Socket;
  /** Counts connections, so that the lowest is the oldest. */
  number: number;
}

/** How many connections beyond the limit are kept until their request is known. */
const SPARE_CONNECTIONS = 8;
const RETRY_SECONDS = 5;

/**
 * Keeps clients from taking the descriptors that upstream connections and the database need. Beyond the limit the oldest
 * connection without a request makes room, as in nginx ("reusable connections"). Where all have one, a few more are
 * accepted, of which only probes are answered.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): ConnectionLimit {
  const { busy, isProbe, max, onCrowded = () => {}, refuse } = options;
  const regular = createIndexedSet<Connection>();
  /** Oldest first. */
  const beyond = new Set<Duplex>();
  const upgraded = new WeakSet<Duplex>();
  let count = 0;

  const enter = (connection: Connection): void => {
    regular.add(connection);
    connection.socket.once('close', () => regular.remove(connection));
  };
  /** Closes the oldest connection that has no request. False when all have one. */
  const makeRoom = (): boolean => {
    const busySockets = new Set<Duplex>(busy());
    let oldest: Connection | null = null;
    for (const connection of regular.members()) {
      const { socket } = connection;
      if (busySockets.has(socket) || upgraded.has(socket)) continue;
      if (oldest === null || connection.number < oldest.number) oldest = connection;
    }
    if (oldest === null) return false;
    regular.remove(oldest);
    // One that was answered before is between two requests, and may be closed without a response (RFC 9112, 9.5).
    if (oldest.socket.bytesWritten > 0) oldest.socket.destroySoon();
    else refuse(oldest.socket, tooMany(max));
    return true;
  };
  server.on('connection', (socket: Socket) => {
    count += 1;
    const connection = { slot: -1, socket, number: count };
    if (regular.size < max) return enter(connection);
    onCrowded();
    if (makeRoom()) return enter(connection);
    beyond.add(socket);
    socket.once('close', () => beyond.delete(socket));
    const [first] = beyond;
    if (beyond.size <= SPARE_CONNECTIONS || first === undefined) return;
    beyond.delete(first);
    refuse(first, tooMany(max));
  });
  const isBeyond = (socket: Duplex) => beyond.size > 0 && beyond.has(socket);
  return {
    isBeyond,
    admit({ socket, url = '/' }) {
      if (isBeyond(socket) && !isProbe(url.split('?', 1)[0] ?? url)) throw tooMany(max);
    },
    upgraded: (socket) => void upgraded.add(socket),
  };
}

function tooMany(max: number): GatewayError {
  return new GatewayError(
    'too_many_connections',
    `The gateway has ${max} connections open, which is its limit: send the request again in ${RETRY_SECONDS} seconds, or raise the limit of open files or limits.connections`,
    { retryAfter: RETRY_SECONDS },
  );
}

const REPORT_MS = 10_000;

/** The limit that is in force, and a line in the log, at most every ten seconds, whenever it is reached. */
export function configuredLimit(
  { limits }: Pick<Config, 'limits'>,
  log: Pick<Log, 'warn'>,
): Pick<ConnectionLimitOptions, 'max' | 'onCrowded'> {
  const max = limits.connections ?? connectionsFor(descriptorLimit());
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    max,
    onCrowded() {
      if (performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      log.warn(
        { connections: max },
        'the limit of client connections is reached: idle connections are closed, and requests are refused',
      );
    },
  };
}

/** What the process itself holds: the database, pipes, threads that read and copy the database. */
const OWN_DESCRIPTORS = 64;
const FEWEST = 8;

/**
 * How many clients may be connected where so many files may be open: each may need a connection to an upstream.
 * @param descriptors null for no limit
 */
export function connectionsFor(descriptors: number | null): number {
  if (descriptors === null) return Number.MAX_SAFE_INTEGER;
  return Math.max(FEWEST, Math.floor((descriptors - OWN_DESCRIPTORS) / 2));
}

/** How many files this process may have open (RLIMIT_NOFILE, getrlimit(2)); null where there is no limit. */
function descriptorLimit(): number | null {
  // In the format of proc(5): a report of the process takes a hundred times as long, at every start.
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const [, soft] = /^Max open files +(\w+) /m.exec(limits) ?? [];
  if (soft === undefined) return limitOfReport();
  return soft === 'unlimited' ? null : Number(soft);
}

function limitOfReport(): number | null {
  // Its list of network interfaces resolves names, which may take long, and is not needed here.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : null;
}
