import { z } from 'zod';

/** Pages of the dashboard whose filters can be saved. */
export const viewPage = z.enum(['requests', 'costs']);
