import { members, openMembers, type Readable } from '../../json/read-members.ts';

/** Members of the request itself that are not read are extras. */
export const readable: Readable = openMembers({ stream_options: members(['include_usage']) });
