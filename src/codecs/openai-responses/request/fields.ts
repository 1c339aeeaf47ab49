import { fields, nativeFields, openFields, type Readable, variants } from '../../json/read-fields.ts';
import type { ConceptWords } from '../../model/concept.ts';

const mark = 'prompt_cache_breakpoint';

/** An item's id and its status say nothing of its content. */
const ofItem = ['type', 'id', 'status'];

const part = variants('type', {
  input_text: fields(['type', 'text', mark]),
  output_text: fields(['type', 'text']),
  text: fields(['type', 'text', mark]),
  summary_text: fields(['type', 'text']),
  refusal: fields(['type', 'refusal']),
  input_image: fields(['type', 'image_url', 'file_id', 'detail', mark]),
  input_file: fields(['type', 'filename', 'file_data', 'file_url', 'file_id', mark]),
  input_audio: fields(['type'], { input_audio: fields(['data', 'format']) }),
});

const message = fields([...ofItem, 'role'], { content: part });
const result = fields([...ofItem, 'call_id'], { output: part });

const search = nativeFields(['type', 'user_location'], {
  filters: fields(['allowed_domains', 'blocked_domains']),
});

/** Tools of the vendor's own are named whole; a namespace's description by `conversation.tools` (`tools-decode.ts`). */
function tool(inner: Readable): Readable {
  return variants('type', {
    function: fields(['type', 'name', 'description', 'parameters', 'strict']),
    custom: fields(['type', 'name', 'description', 'format']),
    namespace: fields(['type', 'name', 'description'], { tools: inner }),
    tool_search: 'all',
    'web_search*': search,
  });
}

const tools = tool(tool('all'));
const toolItem = fields([...ofItem, 'role', 'call_id', 'execution'], { tools });

const item = variants(
  'type',
  {
    message,
    function_call: fields([...ofItem, 'call_id', 'name', 'arguments', 'namespace']),
    custom_tool_call: fields([...ofItem, 'call_id', 'name', 'input', 'namespace']),
    function_call_output: result,
    custom_tool_call_output: result,
    reasoning: fields([...ofItem, 'summary', 'content', 'encrypted_content']),
    additional_tools: toolItem,
    tool_search_output: toolItem,
    shell_call_output: fields([...ofItem, 'call_id', 'output', 'execution']),
    local_shell_call_output: fields([...ofItem, 'call_id', 'output', 'execution']),
    apply_patch_call_output: fields([...ofItem, 'call_id', 'output', 'execution']),
  },
  { usual: message },
);

export const readable: Readable = openFields({
  input: item,
  tools,
  reasoning: fields(['effort', 'summary']),
  text: fields(['verbosity'], {
    format: fields(['type', 'name', 'description', 'schema', 'strict']),
  }),
  // Nothing is added to the events of a stream to hide their length.
  stream_options: fields([]),
});

export const otherWords: ConceptWords = {
  userId: { safety_identifier: ['safety_identifier'], user: ['user'] },
};
