import type { Dispatcher } from 'undici';
import requestOf from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';

/**
 * The parts of undici that the running gateway may use, loaded when it does (`agent.ts`). Its index loads a browser's `fetch`, WebSockets, caches and mocks
 * as well, which takes 50 ms and 15 MB at every start. The version in package.json is exact, for paths like these may
 * change with any other.
 */
export { Agent, Pool };

/**
 * undici's `request`, with the dispatcher named.
 * @throws undici's errors of the transport, and TypeError for what is no URL
 */
export function request(
  url: string,
  { dispatcher, ...options }: Omit<Dispatcher.RequestOptions, 'origin' | 'path'> & { dispatcher: Dispatcher },
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  return requestOf.call(dispatcher, { ...options, origin, path: pathname + search });
}
