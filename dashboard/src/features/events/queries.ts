import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type {
  configVersionRecord,
  configVersionsRecord,
} from '../../../../src/management/events/config-schema.ts';
import type {
  deadLetterRecord,
  deadLettersRecord,
} from '../../../../src/management/events/dead-letter-schema.ts';
import type { StatusRecord } from '../../../../src/management/events/status-schema.ts';
import type { ApiClient } from '../../lib/api/client.ts';

export type EventStatus = StatusRecord;
export type DeadLetter = z.infer<typeof deadLetterRecord>;
export type ConfigVersion = z.infer<typeof configVersionsRecord>['resources'][number];

/** The parts of the configuration that the map shows. */
export interface EventConfig {
  components?: {
    sources?: { ref?: { uniqueId?: string; kind?: string } }[];
    triggers?: { ref?: { uniqueId?: string; kind?: string; name?: string } }[];
  };
  routerRules?: {
    routers?: { sourceId?: string; triggerId?: string; channelId?: string; filter?: { cesql?: string } }[];
  };
}

const STATUS_MS = 2_000;
const PAGE_SIZE = 100;

export function eventStatusQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['events', 'status'],
    queryFn: async ({ signal }) => {
      const status = await api.get<EventStatus>('events/status', { signal });
      return { at: performance.now(), status };
    },
    refetchInterval: STATUS_MS,
    // Each answer counts, also one that says the same: rates are made of two of them.
    structuralSharing: false,
  });
}

export function eventConfigQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['events', 'config'],
    queryFn: ({ signal }) => api.get<EventConfig>('events/config', { signal }),
  });
}

/** Dead letters, the oldest first, page by page. @param trigger null for those of all */
export function deadLettersQuery(api: ApiClient, trigger: string | null) {
  return infiniteQueryOptions({
    queryKey: ['events', 'letters', 'list', trigger],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.get<z.infer<typeof deadLettersRecord>>('events/dead-letters', {
        signal,
        query: {
          limit: PAGE_SIZE,
          ...(trigger === null ? {} : { trigger }),
          ...(pageParam === null ? {} : { after: pageParam }),
        },
      }),
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: 10_000,
  });
}

export function deadLetterQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['events', 'letters', 'one', id],
    queryFn: ({ signal }) => api.get<DeadLetter>(`events/dead-letters/${encodeURIComponent(id)}`, { signal }),
  });
}

export function versionsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['events', 'versions'],
    queryFn: ({ signal }) =>
      api.get<z.infer<typeof configVersionsRecord>>('events/config/versions', { signal }),
  });
}

export function versionQuery(api: ApiClient, version: number) {
  return queryOptions({
    queryKey: ['events', 'versions', version],
    queryFn: ({ signal }) =>
      api.get<z.infer<typeof configVersionRecord>>(`events/config/versions/${version}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
