import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { backupRow } from '../../../../src/backup/schema.ts';
import type { taskRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Backup = z.infer<typeof backupRow> & Member;
export type Task = z.infer<typeof taskRow> & Member;

const WORKING_MS = 1000;

export function backupsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['backups'],
    queryFn: ({ signal }) => api.list<Backup>('backups', { signal }),
  });
}

/** What is done to backups, newest first. It is the gateway that remembers, so a reload of the page loses nothing. */
export function backupTasksQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['tasks', 'backups'],
    queryFn: ({ signal }) =>
      api.list<Task>('tasks', { signal, query: { 'filter[]': ["target='/api/backups/*'"], limit: 20 } }),
    refetchInterval: ({ state }) => (state.data?.resources.some(isUnderWay) === true ? WORKING_MS : false),
  });
}

export function isUnderWay({ state }: Pick<Task, 'state'>): boolean {
  return state !== 'Finished';
}

/** The settings that say when backups are made without anybody asking. */
export function scheduleQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['settings', 'backups'],
    queryFn: async ({ signal }) => {
      const [every, keep] = await Promise.all(
        ['backups.every_hours', 'backups.keep'].map((name) =>
          api.get<{ value: number | null }>(`settings/${name}`, { signal }),
        ),
      );
      return { everyHours: every?.value ?? null, keep: keep?.value ?? null };
    },
  });
}
