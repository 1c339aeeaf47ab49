import { z } from 'zod';

/** What a login may ask a token for. */
export const requesterType = z.enum(['api', 'ui', 'ws'], 'requester_type must be api, ui or ws');

export type RequesterType = z.infer<typeof requesterType>;
