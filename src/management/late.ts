import type { AnyExchange } from '../http/exchange.ts';
import { sendJson } from '../http/send.ts';
import { GatewayError } from '../lib/error.ts';
import type { Management } from './open.ts';
import { refusalWithHeaders } from './refusal.ts';

/** A management API with what it opened for itself. */
export interface ClosableManagement extends Management {
  /** Resolves when nothing that it began is under way any more. */
  close(): Promise<void>;
}

/**
 * The management API, whose code is loaded with its first request: it is a third of the gateway's code, and most of what
 * a gateway serves is model requests.
 * @param load is called again by the next request where it failed
 */
export function lateManagement(
  load: () => Promise<ClosableManagement>,
  report: (error: unknown) => void,
): ClosableManagement {
  let loading: Promise<ClosableManagement> | null = null;
  let loaded: ClosableManagement | null = null;
  /** The gateway stops: answers that go on as long as their clients are connected end at once. */
  let ending = false;
  const opened = (): Promise<ClosableManagement> => {
    loading ??= load().then(
      (api) => {
        loaded = api;
        if (ending) api.endStreams();
        return api;
      },
      (error: unknown) => {
        loading = null;
        report(error);
        throw notLoaded(error);
      },
    );
    return loading;
  };
  const orRefused = async (exchange: AnyExchange, use: (api: Management) => unknown): Promise<void> => {
    let api: Management;
    try {
      api = await opened();
    } catch (error) {
      refuseUnloaded(exchange, error);
      return;
    }
    await use(api);
  };
  return {
    serve: (exchange) => orRefused(exchange, (api) => api.serve(exchange)),
    serveMetrics: (exchange) => orRefused(exchange, (api) => api.serveMetrics(exchange)),
    eventService: {
      serve: (exchange) => orRefused(exchange, ({ eventService }) => eventService.serve(exchange)),
    },
    refuse: (exchange, error) => void orRefused(exchange, (api) => api.refuse(exchange, error)),
    guard: async (exchange) => (await opened()).guard(exchange),
    admit: async (exchange) => (await opened()).admit(exchange),
    body: async (exchange, caller) => (await opened()).body(exchange, caller),
    watchEvents: async (caller, watch) => (await opened()).watchEvents(caller, watch),
    call: async (caller, call) => (await opened()).call(caller, call),
    endStreams() {
      ending = true;
      loaded?.endStreams();
    },
    async close() {
      // One that is being loaded is waited for; one that could not be loaded has nothing to close.
      const api = loaded ?? (await loading?.catch(() => null)) ?? null;
      await api?.close();
    },
  };
}

function refuseUnloaded(exchange: AnyExchange, thrown: unknown): void {
  if (exchange.response.headersSent) return;
  const error = thrown instanceof GatewayError ? thrown : notLoaded(thrown);
  const { body, headers, status } = refusalWithHeaders(error, exchange.id);
  sendJson(exchange, status, body, headers);
}

function notLoaded(cause: unknown): GatewayError {
  return new GatewayError(
    'internal_error',
    'The management API could not be loaded: restart the gateway if its files were updated while it ran. Its log has the cause',
    { cause },
  );
}
