import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const text = z.string().min(1).max(4_096);

const service = z
  .strictObject({
    url: text,
    /** The header `Authorization`: `Bearer ${TOKEN}`. */
    authorization: text.optional(),
    /** How the gateway names itself when it asks whether it may send. */
    origin: z
      .string()
      .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'a name of the DNS')
      .optional(),
    rate_per_minute: z.int().min(1).max(1_000_000).optional(),
    mode: z.enum(['binary', 'structured']).optional(),
    timeout_seconds: z.number().positive().max(25).optional(),
    /** The public address of this gateway, for receivers that consent later. */
    callback: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional(),
  })
  .refine(({ callback, origin }) => callback === undefined || origin !== undefined, {
    path: ['callback'],
    message: 'needs origin: without it the gateway does not ask',
  });

/** `DATA_DIR/event-services.yaml`. */
const services = z.record(z.string().min(1).max(128), service);

export type Service = z.infer<typeof service>;

/**
 * The service of a name, as the owner of the machine declared it in `event-services.yaml`.
 * @throws Error when there is none, or the file is wrong
 */
export function serviceNamed(name: string, dataDir: string): Service {
  const file = join(dataDir, 'event-services.yaml');
  const parsed = services.safeParse(parse(textOf(file)) ?? {});
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`event-services.yaml: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const address = Object.hasOwn(parsed.data, name) ? parsed.data[name] : undefined;
  if (address === undefined) throw new Error(`There is no service "${name}" in event-services.yaml`);
  return address;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
