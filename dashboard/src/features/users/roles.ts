import type { Role } from '../../lib/api/session.ts';

/** From the least to the most. */
export const roles: readonly Role[] = ['viewer', 'operator', 'admin'];
