/**
 * Put before the program with `--import`: every name is resolved to this machine, and every connection to an upstream,
 * whatever its port, goes to the port in `TEST_UPSTREAM_PORT` in plain text. The names that were resolved stand in the
 * Host headers of what arrives. What the gateway listens on and other sockets are left alone.
 */
const preloaded = `
  import dns from 'node:dns';
  import net from 'node:net';
  import tls from 'node:tls';
  import { syncBuiltinESMExports } from 'node:module';
  dns.lookup = (name, options, done) => {
    const found = [{ address: '127.0.0.1', family: 4 }];
    process.nextTick(() => (options.all ? done(null, found) : done(null, '127.0.0.1', 4)));
  };
  const port = Number(process.env.TEST_UPSTREAM_PORT);
  const connect = net.connect;
  const toUpstream = (options) => connect({ ...options, port, host: options.host, servername: undefined });
  tls.connect = (options) => {
    const socket = toUpstream(options);
    socket.once('connect', () => socket.emit('secureConnect'));
    return socket;
  };
  net.connect = (options, ...rest) =>
    typeof options?.lookup === 'function' ? toUpstream(options) : connect(options, ...rest);
  syncBuiltinESMExports();
`;

/** The environment of a gateway for which every host on the network is the upstream at `port`. */
export function anyHostAt(port: number): Readonly<Record<string, string>> {
  return {
    TEST_UPSTREAM_PORT: String(port),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded)}`,
  };
}
