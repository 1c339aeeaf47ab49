import { z } from 'zod';

/** A setting as it is shown. */
export const settingRow = z.object({
  /** Its name: `limits.body_bytes`. */
  id: z.string(),
  name: z.string(),
  /** What is in force. */
  value: z.unknown(),
  /** Where that comes from. */
  source: z.enum(['flag', 'environment', 'file', 'default']),
  /** Whether it can be changed here. */
  editable: z.boolean(),
  /** Whether `config.json` names it, and what it says; null where it does not. */
  in_file: z.boolean(),
  configured: z.unknown(),
  /** JSON Schema of what `config.json` may say; null for what cannot stand there. */
  allowed: z.unknown(),
  /** `config.json` says something else than is in force: that comes with the next start. */
  restart_required: z.boolean(),
});

export type SettingRow = z.infer<typeof settingRow>;

/** What may be changed of a setting. */
export const settingChange = z.strictObject({ value: z.unknown() });
