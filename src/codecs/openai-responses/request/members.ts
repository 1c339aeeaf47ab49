import { members, nativeMembers, openMembers, type Readable, variants } from '../../json/read-members.ts';
import type { ConceptWords } from '../../model/concept.ts';

const mark = 'prompt_cache_breakpoint';

/** An item's id and its status say nothing of its content. */
const ofItem = ['type', 'id', 'status'];

const part = variants('type', {
  input_text: members(['type', 'text', mark]),
  output_text: members(['type', 'text']),
  text: members(['type', 'text', mark]),
  summary_text: members(['type', 'text']),
  refusal: members(['type', 'refusal']),
  input_image: members(['type', 'image_url', 'file_id', 'detail', mark]),
  input_file: members(['type', 'filename', 'file_data', 'file_url', 'file_id', mark]),
  input_audio: members(['type'], { input_audio: members(['data', 'format']) }),
});

const message = members([...ofItem, 'role'], { content: part });
const result = members([...ofItem, 'call_id'], { output: part });

const search = nativeMembers(['type', 'user_location'], {
  filters: members(['allowed_domains', 'blocked_domains']),
});

/** Tools of the vendor's own are named whole; a namespace's description by `conversation.tools` (`tools-decode.ts`). */
function tool(inner: Readable): Readable {
  return variants('type', {
    function: members(['type', 'name', 'description', 'parameters', 'strict']),
    custom: members(['type', 'name', 'description', 'format']),
    namespace: members(['type', 'name', 'description'], { tools: inner }),
    tool_search: 'all',
    'web_search*': search,
  });
}

const tools = tool(tool('all'));
const brought = members([...ofItem, 'role', 'call_id', 'execution'], { tools });

const item = variants(
  'type',
  {
    message,
    function_call: members([...ofItem, 'call_id', 'name', 'arguments', 'namespace']),
    custom_tool_call: members([...ofItem, 'call_id', 'name', 'input', 'namespace']),
    function_call_output: result,
    custom_tool_call_output: result,
    reasoning: members([...ofItem, 'summary', 'content', 'encrypted_content']),
    additional_tools: brought,
    tool_search_output: brought,
    shell_call_output: members([...ofItem, 'call_id', 'output', 'execution']),
    local_shell_call_output: members([...ofItem, 'call_id', 'output', 'execution']),
    apply_patch_call_output: members([...ofItem, 'call_id', 'output', 'execution']),
  },
  { usual: message },
);

export const readable: Readable = openMembers({
  input: item,
  tools,
  reasoning: members(['effort', 'summary']),
  text: members(['verbosity'], {
    format: members(['type', 'name', 'description', 'schema', 'strict']),
  }),
  // Nothing is added to the events of a stream to hide their length.
  stream_options: members([]),
});

export const otherWords: ConceptWords = {
  userId: { safety_identifier: ['safety_identifier'], user: ['user'] },
};
