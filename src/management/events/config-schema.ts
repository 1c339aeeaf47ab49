import { z } from 'zod';

/** Something wrong, or probably not meant, in a configuration. */
export const configProblem = z.object({
  path: z.string(),
  message: z.string(),
  line: z.number().nullable(),
  column: z.number().nullable(),
});

const memberChanges = z.object({
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
});

const configChangesRecord = z.object({
  channels: memberChanges,
  sources: memberChanges,
  triggers: memberChanges,
  routers: z.object({ added: z.number(), removed: z.number() }),
});

/** What a change of the configuration came to. */
export const appliedRecord = z.object({
  version: z.number(),
  changes: configChangesRecord,
  warnings: z.array(configProblem),
  lost_comments: z.number(),
});

/** What a configuration would come to. */
export const validatedRecord = z.object({
  valid: z.boolean(),
  errors: z.array(configProblem),
  warnings: z.array(configProblem),
  changes: configChangesRecord.nullable(),
});

const configVersion = z.object({
  version: z.number(),
  created_at: z.iso.datetime(),
  author: z.string(),
  via: z.enum(['file', 'api', 'rollback', 'built-in']),
  in_force: z.boolean(),
});

export const configVersionsRecord = z.object({
  name: z.literal('versions'),
  count: z.number(),
  subcount: z.number(),
  resources: z.array(configVersion),
});

export const configVersionRecord = configVersion.extend({ text: z.string() });
