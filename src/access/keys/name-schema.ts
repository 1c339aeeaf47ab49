import { z } from 'zod';

/** What a key may be called. */
export const keyName = z
  .string()
  .trim()
  .min(1, 'a key needs a name')
  .max(100, 'a name has at most 100 characters')
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name has no control characters');
