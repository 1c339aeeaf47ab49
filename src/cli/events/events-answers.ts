import { z } from 'zod';

/** What the gateway answers to questions about events, as far as commands show it. */

export const problemRow = z
  .object({
    path: z.string(),
    message: z.string(),
    line: z.number().nullable(),
    column: z.number().nullable(),
  })
  .transform(({ column, line, message, path }) => ({
    path,
    message,
    ...(line === null ? {} : { line }),
    ...(column === null ? {} : { column }),
  }));

const memberChanges = z.object({
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
});

const configChanges = z.object({
  channels: memberChanges,
  sources: memberChanges,
  triggers: memberChanges,
  routers: z.object({ added: z.number(), removed: z.number() }),
});

/** A configuration that was put into force, or would be. */
export const appliedConfig = z.object({
  version: z.number().optional(),
  changes: configChanges,
  lost_comments: z.number().optional(),
});

export const configVersionRow = z.object({
  version: z.number(),
  created_at: z.string(),
  author: z.string(),
  via: z.string(),
  in_force: z.boolean(),
});

/** `+ trigger hook`, and the like. */
export function changeLines({ routers, ...members }: z.output<typeof configChanges>): string[] {
  const lines = Object.entries(members).flatMap(([kind, { added, changed, removed }]) => {
    const what = kind.replace(/s$/, '');
    return [
      ...added.map((id) => `+ ${what} ${id}`),
      ...changed.map((id) => `~ ${what} ${id}`),
      ...removed.map((id) => `- ${what} ${id}`),
    ];
  });
  if (routers.added > 0) lines.push(`+ routers: ${routers.added}`);
  if (routers.removed > 0) lines.push(`- routers: ${routers.removed}`);
  return lines.length === 0 ? ['No member of the configuration changes.'] : lines;
}
