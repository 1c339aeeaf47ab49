import { type Attributes, attributesOf } from '../../http/collection/attributes.ts';
import { requestRow } from '../schema.ts';

/** What the requests that are counted or put together may be filtered by: all that `requests` is filtered by. */
export const requestFilters: Attributes = new Map([...attributesOf(requestRow, new Set()), ['text', 'text']]);
