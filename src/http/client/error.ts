/**
 * Why an exchange with a server broke off. `code` is the system's where a connection ended (`ECONNRESET`), and llhttp's name
 * for what is wrong with the bytes of an answer (`HPE_…`), so that one table of faults serves for any client.
 */
export class ExchangeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'ExchangeError';
    this.code = code;
  }
}

export function closedEarly(): ExchangeError {
  return new ExchangeError('ECONNRESET', 'the server closed the connection before its answer was complete');
}
