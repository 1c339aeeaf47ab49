import { z } from 'zod';
import { viewPage } from './page-schema.ts';

const viewName = z.string().trim().min(1, 'a view needs a name').max(60);
/** The filters as the page's address has them: `outcome=failed&range=7d`. */
const viewSearch = z
  .string()
  .max(2_000)
  .regex(/^[\x21-\x7e]*$/, 'the filters are a query string, with other characters percent-encoded');

/** A saved view, as it is shown. */
export const savedViewRow = z.object({
  id: z.string(),
  page: viewPage,
  name: z.string(),
  search: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const newSavedView = z.strictObject({ page: viewPage, name: viewName, search: viewSearch });

export const savedViewChange = z
  .strictObject({ name: viewName.optional(), search: viewSearch.optional() })
  .refine((fields) => Object.keys(fields).length > 0, 'nothing to change: name and search can be');

export type NewSavedView = z.infer<typeof newSavedView>;
export type SavedViewChange = z.infer<typeof savedViewChange>;
export type SavedViewRow = z.infer<typeof savedViewRow>;
