import { fields, openFields, type Readable } from '../../json/read-fields.ts';

/** Fields of the request itself that are not read are extras. */
export const readable: Readable = openFields({ stream_options: fields(['include_usage']) });
