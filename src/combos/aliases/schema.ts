import { z } from 'zod';
import { modelId } from '../name-schema.ts';

/** Another name for a model, or for all whose id fits a pattern. */
export interface AliasRecord {
  id: string;
  /** The id that is asked for; `*` stands for any text. */
  name: string;
  /** The id that is meant; each `*` is what the same one of the name stood for. */
  target: string;
  createdAt: number;
}

const stars = (text: string) => text.split('*').length - 1;

const aliasName = modelId
  .refine((name) => name.toLowerCase() !== 'auto', '"auto" always means the active combo')
  .refine((name) => stars(name) <= 4, 'a pattern has at most four *');

const alias = { name: aliasName, target: modelId };

export const newAliasInput = z.strictObject(alias);

export const aliasChange = z.strictObject(alias).partial();

/** An alias as it is shown. */
export const aliasRow = z.object({
  id: z.string(),
  name: z.string(),
  target: z.string(),
  /** Whether the name is a pattern. */
  pattern: z.boolean(),
  created_at: z.iso.datetime(),
});
