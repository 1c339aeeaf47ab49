import { fields, openFields, type Readable, variants } from '../../json/read-fields.ts';

const messageFields = ['role', 'content', 'images'];

/** Fields of the request itself and its options that are not read are extras. */
export const readable: Readable = openFields({
  messages: variants('role', {
    system: fields(messageFields),
    user: fields(messageFields),
    assistant: fields([...messageFields, 'thinking'], {
      tool_calls: fields(['id', 'type'], { function: fields(['name', 'arguments', 'index']) }),
    }),
    tool: fields([...messageFields, 'tool_name', 'tool_call_id']),
  }),
  tools: fields(['type'], { function: fields(['name', 'description', 'parameters']) }),
});
