import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { type OutboundInput, outboundConnector } from '../../http/outbound/connector.ts';

/**
 * undici's own connector, except for where it does not lead, and that an aborted request is done with. undici closes its socket with an error that
 * also means "send again on another one", keeps the request queued, and so opens a connection that is not needed
 * for every client that leaves (undici 7.30, `onHttpSocketClose`). Any other error takes the request out.
 */
export function createConnector(input: OutboundInput): buildConnector.connector {
  const connect = outboundConnector(input);
  return (options, callback) =>
    connect(options, (...outcome) => {
      if (outcome[0] === null) finishAborted(outcome[1]);
      callback(...outcome);
    });
}

function finishAborted(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => destroy(error?.message === 'aborted' ? new Error('aborted') : error);
}
