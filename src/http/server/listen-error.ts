import { GatewayError } from '../../lib/error.ts';

/** What keeps the server from listening, and what to do about it. */
export function listenError(error: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const hint =
    error.code === 'EADDRINUSE'
      ? `port ${port} is already in use: stop the other program, or choose another port with --port`
      : error.code === 'EACCES'
        ? `this user may not listen on port ${port}: choose one above 1023 with --port`
        : error.message;
  return new GatewayError('invalid_request', `Cannot listen on ${host}:${port}: ${hint}`, {
    param: 'port',
    cause: error,
  });
}
