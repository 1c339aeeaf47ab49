import { members, openMembers, type Readable, variants } from '../../json/read-members.ts';

const messageFields = ['role', 'content', 'images'];

/** Members of the request itself and its options that are not read are extras. */
export const readable: Readable = openMembers({
  messages: variants('role', {
    system: members(messageFields),
    user: members(messageFields),
    assistant: members([...messageFields, 'thinking'], {
      tool_calls: members(['id', 'type'], { function: members(['name', 'arguments', 'index']) }),
    }),
    tool: members([...messageFields, 'tool_name', 'tool_call_id']),
  }),
  tools: members(['type'], { function: members(['name', 'description', 'parameters']) }),
});
