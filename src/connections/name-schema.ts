import { z } from 'zod';

/** What a connection may be called: it stands before the slash of a model id. */
export const connectionName = z
  .string()
  .trim()
  .min(1, 'a connection needs a name')
  .max(64, 'a name has at most 64 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a name has letters, digits, dots, dashes and underscores, and begins with a letter or digit',
  );
