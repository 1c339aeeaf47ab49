import type { Socket } from 'node:net';

/** Where a connection came from, as the process that accepted it has seen it. */
export interface ClientAddress {
  address: string;
  port: number;
}

/** The longest header of version 1 (PROXY protocol, 2.1), its line end included. */
const MAX_BYTES = 107;
const LINE_END = '\r\n';
/** How long a header may take: a process of this gateway sends it as it connects. */
const HEADER_MS = 5000;

/**
 * The first line of a connection that is passed on: HAProxy's PROXY protocol, version 1. The zone of a link-local address
 * has no place in it, and may be longer than the line.
 */
export function proxyHeader({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  if (remoteAddress === undefined || localAddress === undefined) return `PROXY UNKNOWN${LINE_END}`;
  const family = remoteAddress.includes(':') ? 'TCP6' : 'TCP4';
  const [client, server] = [remoteAddress, localAddress].map((address) => address.split('%', 1)[0]);
  return `PROXY ${family} ${client} ${server} ${remotePort} ${localPort}${LINE_END}`;
}

/** The client that a header names; null where it names none. @throws Error for a line that is no header */
function parseProxyHeader(line: string): ClientAddress | null {
  if (line === 'PROXY UNKNOWN') return null;
  const [, address, port] = /^PROXY TCP[46] (\S+) \S+ (\d{1,5}) \d{1,5}$/.exec(line) ?? [];
  if (address === undefined || port === undefined)
    throw new Error('the connection begins without a PROXY header');
  return { address, port: Number(port) };
}

/**
 * Reads the header of a connection and makes its socket show the client's address as its own peer's. Only for a socket
 * that only this gateway's own processes can connect to. One that ends before its header, or takes longer than
 * five seconds for it, is closed.
 * @param ready called once the header was read; what follows it is there to be read
 */
export function readProxyHeader(socket: Socket, ready: () => void): void {
  socket.pause();
  let line = '';
  const read = (): void => {
    // One byte at a time, so that nothing after the line is read.
    for (let byte = socket.read(1) as Buffer | null; byte !== null; byte = socket.read(1) as Buffer | null) {
      line += byte.toString('latin1');
      if (line.endsWith(LINE_END)) {
        finish();
        return;
      }
      if (line.length > MAX_BYTES) {
        abandon();
        return;
      }
    }
  };
  const abandon = () => socket.destroy();
  const timer = setTimeout(abandon, HEADER_MS).unref();
  const release = (): void => {
    clearTimeout(timer);
    socket.off('readable', read);
    for (const event of ['end', 'error']) socket.off(event, abandon);
    socket.off('close', release);
  };
  const finish = (): void => {
    release();
    let client: ClientAddress | null;
    try {
      client = parseProxyHeader(line.slice(0, -LINE_END.length));
    } catch {
      socket.destroy();
      return;
    }
    if (client !== null) {
      Object.defineProperty(socket, 'remoteAddress', { value: client.address });
      Object.defineProperty(socket, 'remotePort', { value: client.port });
    }
    // Node throws for a Unix socket. The process at the other end sees that the answer broke off, and resets its client.
    Object.defineProperty(socket, 'resetAndDestroy', { value: () => socket.destroy() });
    ready();
  };
  for (const event of ['end', 'error']) socket.on(event, abandon);
  socket.on('close', release);
  socket.on('readable', read);
}
