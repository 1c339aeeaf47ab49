import type { Exchange } from '../../../http/server/server.ts';
import { admit, refuse } from '../../app.ts';
import type { ManagementContext } from '../../context.ts';
import type { EventServiceHandler } from './handler.ts';

const prefix = '/modelgate.events.v1.EventConfigService/';

/** The service `modelgate.events.v1.EventConfigService`. The protocol's library is loaded with the first call. */
export interface EventService {
  /** Never throws. */
  serve(exchange: Exchange): Promise<void>;
  /** Ends streams. */
  close(): void;
}

export function isEventServicePath(path: string): boolean {
  return path.startsWith(prefix);
}

export function openEventService(context: ManagementContext): EventService {
  const closed = new AbortController();
  let handler: Promise<EventServiceHandler> | null = null;
  const open = async (): Promise<EventServiceHandler> => {
    const { createEventServiceHandler } = await import('./handler.ts');
    return createEventServiceHandler({
      events: context.events,
      record: (change) => context.audit({ kind: 'change', change }),
      closed: closed.signal,
    });
  };
  return {
    async serve(exchange) {
      try {
        const caller = await admit(context, exchange);
        handler ??= open();
        (await handler).serve(exchange, caller);
      } catch (error) {
        refuse(context, exchange, error);
      }
    },
    close: () => closed.abort(),
  };
}
