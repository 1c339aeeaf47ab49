import { members, openMembers, type Readable, variants } from '../../json/read-members.ts';

const said = ['role', 'content', 'images'];

/** Members of the request itself and its options that are not read are extras. */
export const readable: Readable = openMembers({
  messages: variants('role', {
    system: members(said),
    user: members(said),
    assistant: members([...said, 'thinking'], {
      tool_calls: members(['id', 'type'], { function: members(['name', 'arguments', 'index']) }),
    }),
    tool: members([...said, 'tool_name', 'tool_call_id']),
  }),
  tools: members(['type'], { function: members(['name', 'description', 'parameters']) }),
});
