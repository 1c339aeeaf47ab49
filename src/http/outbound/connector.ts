import { isIP, type OnReadOpts } from 'node:net';
import type { buildConnector as connectors } from 'undici';
import { skipContinueResponses } from '../server/interim-responses.ts';
import { AddressRefused, guardedLookup, hostRefusal, type Listening } from './outbound.ts';
import { buildConnector } from './undici-connect.ts';

export interface OutboundInput {
  /** How long connecting may take, in milliseconds. */
  timeoutMs: number;
  listening: Listening;
  /** Whether it may lead to loopback and private networks. Default true. */
  privateNetworks?: boolean;
  /** Reads without streams, as our own client does, which needs no interim responses to be skipped for it. */
  onread?: OnReadOpts;
  /** How names are resolved; the system's way when absent. */
  lookup?: Parameters<typeof guardedLookup>[2];
}

/**
 * undici's connector, which connects to nothing that `outbound.ts` refuses. What counts is what a name is resolved to
 * for this very connection, so that a name which was harmless when it was configured does not help.
 */
export function outboundConnector({
  listening,
  lookup,
  onread,
  privateNetworks = true,
  timeoutMs,
}: OutboundInput): connectors.connector {
  /** The answer depends on the port, and the resolver does not get it. */
  const byPort = new Map<number, connectors.connector>();
  const connectorTo = (port: number): connectors.connector => {
    const existing = byPort.get(port);
    if (existing !== undefined) return existing;
    const guarded = guardedLookup(port, listening, lookup, privateNetworks);
    const connector = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      lookup: guarded,
      ...(onread === undefined ? {} : { onread }),
    });
    byPort.set(port, connector);
    return connector;
  };
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const refusal = isIP(host) === 0 ? null : hostRefusal(host, port, listening, privateNetworks);
    if (refusal === null)
      return connectorTo(port)(options, (...outcome) => {
        if (outcome[0] === null && onread === undefined) skipContinueResponses(outcome[1]);
        callback(...outcome);
      });
    callback(new AddressRefused(refusal), null);
  };
}
