import { fields, nativeFields, openFields, type Readable, variants } from '../../json/read-fields.ts';
import type { ConceptWords } from '../../model/concept.ts';

const cacheMarks = ['cache_control', 'prompt_cache_breakpoint'];

const part = variants('type', {
  text: fields(['type', 'text', ...cacheMarks]),
  input_text: fields(['type', 'text', ...cacheMarks]),
  output_text: fields(['type', 'text', ...cacheMarks]),
  refusal: fields(['type', 'refusal']),
  image_url: fields(['type', ...cacheMarks], { image_url: fields(['url', 'detail']) }),
  file: fields(['type', ...cacheMarks], { file: fields(['filename', 'file_data', 'file_id']) }),
  input_audio: fields(['type'], { input_audio: fields(['data', 'format']) }),
});

const instructions = fields(['role', 'name', 'cache_control'], { content: part });
const called = fields(['name', 'arguments', 'input']);

/** Results name their function, which the call does too. */
const result = fields(['role', 'tool_call_id', 'name', 'cache_control'], { content: part });

const message = variants('role', {
  system: instructions,
  developer: instructions,
  user: instructions,
  assistant: fields(
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
      tool_calls: fields(['id', 'type', 'index', 'extra_content'], { function: called, custom: called }),
    },
  ),
  tool: result,
  function: result,
});

const functionFields = ['name', 'description', 'parameters', 'strict'];
const customFields = ['name', 'description', 'format'];
const tool = variants(
  'type',
  {
    // Some clients send the flat form of the responses format.
    function: fields(['type', 'cache_control', ...functionFields], { function: fields(functionFields) }),
    custom: fields(['type', ...customFields], { custom: fields(customFields) }),
  },
  { usual: fields(['cache_control', ...functionFields], { function: fields(functionFields) }) },
);

export const readable: Readable = openFields({
  messages: message,
  tools: tool,
  functions: fields(['name', 'description', 'parameters']),
  response_format: fields(['type'], {
    json_schema: fields(['name', 'description', 'schema', 'strict']),
  }),
  reasoning: fields(['effort', 'enabled', 'max_tokens', 'exclude']),
  thinking: fields(['type', 'budget_tokens']),
  stream_options: fields(['include_usage']),
  web_search_options: nativeFields(['user_location']),
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
