import { members, nativeMembers, openMembers, type Readable, variants } from '../../json/read-members.ts';
import type { ConceptWords } from '../../model/concept.ts';

const cacheMarks = ['cache_control', 'prompt_cache_breakpoint'];

const part = variants('type', {
  text: members(['type', 'text', ...cacheMarks]),
  input_text: members(['type', 'text', ...cacheMarks]),
  output_text: members(['type', 'text', ...cacheMarks]),
  refusal: members(['type', 'refusal']),
  image_url: members(['type', ...cacheMarks], { image_url: members(['url', 'detail']) }),
  file: members(['type', ...cacheMarks], { file: members(['filename', 'file_data', 'file_id']) }),
  input_audio: members(['type'], { input_audio: members(['data', 'format']) }),
});

const instructions = members(['role', 'name', 'cache_control'], { content: part });
const called = members(['name', 'arguments', 'input']);

/** Results name their function, which the call does too. */
const result = members(['role', 'tool_call_id', 'name', 'cache_control'], { content: part });

const message = variants('role', {
  system: instructions,
  developer: instructions,
  user: instructions,
  assistant: members(
    [
      'role',
      'name',
      'cache_control',
      'refusal',
      'audio',
      'images',
      'reasoning',
      'reasoning_content',
      'reasoning_details',
      'extra_content',
    ],
    {
      content: part,
      function_call: called,
      tool_calls: members(['id', 'type', 'index', 'extra_content'], { function: called, custom: called }),
    },
  ),
  tool: result,
  function: result,
});

const functionMembers = ['name', 'description', 'parameters', 'strict'];
const customMembers = ['name', 'description', 'format'];
const tool = variants(
  'type',
  {
    // Some clients send the flat form of the responses format.
    function: members(['type', 'cache_control', ...functionMembers], { function: members(functionMembers) }),
    custom: members(['type', ...customMembers], { custom: members(customMembers) }),
  },
  { usual: members(['cache_control', ...functionMembers], { function: members(functionMembers) }) },
);

export const readable: Readable = openMembers({
  messages: message,
  tools: tool,
  functions: members(['name', 'description', 'parameters']),
  response_format: members(['type'], {
    json_schema: members(['name', 'description', 'schema', 'strict']),
  }),
  reasoning: members(['effort', 'enabled', 'max_tokens', 'exclude']),
  thinking: members(['type', 'budget_tokens']),
  stream_options: members(['include_usage']),
  web_search_options: nativeMembers(['user_location']),
});

const marked = ['messages', 'messages.content', 'tools'];

export const otherWords: ConceptWords = {
  userId: { safety_identifier: ['safety_identifier'], user: ['user'] },
  reasoning: { reasoning_effort: ['reasoning_effort'], reasoning: ['reasoning'], thinking: ['thinking'] },
  cacheMarks: {
    cache_control: marked.map((path) => `${path}.cache_control`),
    prompt_cache_breakpoint: ['messages.content.prompt_cache_breakpoint'],
  },
  tools: { tools: ['tools'], functions: ['functions'] },
  toolCalls: { tool_calls: ['messages.tool_calls'], function_call: ['messages.function_call'] },
  forcedCall: { tool_choice: ['tool_choice'], function_call: ['function_call'] },
  strictTools: { 'tools.function.strict': ['tools.function.strict'], 'tools.strict': ['tools.strict'] },
};
