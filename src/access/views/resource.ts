import type { Resource } from '../../http/resource.ts';
import { newSavedView, savedViewChange, savedViewRow } from './schema.ts';
import type { savedViewStore } from './store.ts';

/** The filters of the dashboard that the caller saved. Nobody sees or changes those of others. */
export function savedViewsResource({ views }: { views: ReturnType<typeof savedViewStore> }): Resource {
  return {
    name: 'views',
    title: 'Saved views',
    summary: 'Filters of the dashboard’s pages that users saved under a name. Each user has their own.',
    record: savedViewRow,
    read: 'self:read',
    list: ({ userId }) => views.list(userId),
    find: (id, { userId }) => views.find(userId, id),
    create: {
      permission: 'self:update',
      input: newSavedView,
      run: async (input, { userId }) => ({ row: await views.add(userId, newSavedView.parse(input)) }),
    },
    update: {
      permission: 'self:update',
      input: savedViewChange,
      run: ({ id }, input, { userId }) => views.update(userId, id, savedViewChange.parse(input)),
    },
    remove: {
      permission: 'self:update',
      run: ({ id }, { userId }) => views.remove(userId, id),
    },
  };
}
