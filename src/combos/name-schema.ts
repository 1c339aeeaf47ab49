import { z } from 'zod';

/** What a combo may be called: a model id without a slash, so that it can be asked for as one. */
export const comboName = z
  .string()
  .trim()
  .min(1, 'a combo needs a name')
  .max(64, 'a name has at most 64 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]*$/,
    'a name has letters, digits, dots, colons, dashes and underscores, and begins with a letter or digit',
  )
  .refine((name) => name.toLowerCase() !== 'auto', '"auto" always means the active combo');

/** What a target or an alias may say. */
export const modelId = z
  .string()
  .trim()
  .min(1, 'a target is not empty')
  .max(300, 'a target has at most 300 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a target has no control characters');
