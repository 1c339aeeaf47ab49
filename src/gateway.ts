import { collectCloseFaults } from './gateway/close-faults.ts';
import { type Listening, openGateway } from './gateway/open.ts';
import type { OpenInput } from './gateway/open-input.ts';
import { openRequestsMs } from './gateway/open-requests.ts';
import { createClosers } from './lib/closers.ts';

/** How long one part may take to close: longer than writers try to write what is left. */
const CLOSE_MS = 20_000;
/** How long all parts together may take to close, beside open requests. */
const CLOSE_ALL_MS = 30_000;

export interface Gateway {
  /** Opens everything and listens. @throws GatewayError with what to do about it */
  start(): Promise<Listening>;
  /**
   * Stops accepting, lets open requests finish for `drainMs`, ends the rest in their dialect, and flushes. Ends in bounded time.
   * @throws the first failure of a part to close, or an error that names the parts that did not close in time
   */
  stop(): Promise<void>;
  /** Shows a line of the log, as JSON, to those who watch. */
  publishLogLine(line: string): void;
}

export interface GatewayInput
  extends Pick<OpenInput, 'config' | 'log' | 'signal' | 'version'>,
    Partial<Pick<OpenInput, 'accessLog' | 'processControl'>> {
  /** How long one part may take to close, in milliseconds. Default 20,000. */
  closeMs?: number;
}

/** A gateway that can be started and stopped once. `gateway/open.ts` puts its parts together. */
export function createGateway(input: GatewayInput): Gateway {
  const { accessLog = null, closeMs = CLOSE_MS, processControl = null, ...given } = input;
  const { config, log } = given;
  const closers = createClosers();
  let publishLogLine = (_line: string): void => {};
  const closeAll = async (): Promise<void> => {
    const limits = { partMs: closeMs, totalMs: openRequestsMs(config) + CLOSE_ALL_MS };
    const faults = collectCloseFaults(log);
    await closers.closeAll(limits, faults.add);
    faults.throwFirst();
  };

  return {
    async start() {
      try {
        return await openGateway({
          ...given,
          accessLog,
          processControl,
          onClose: closers.add,
          onLive: (listener) => (publishLogLine = listener),
        });
      } catch (error) {
        await closeAll().catch(() => {});
        throw error;
      }
    },
    stop: closeAll,
    publishLogLine: (line) => publishLogLine(line),
  };
}
