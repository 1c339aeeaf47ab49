import { fields, nativeFields, openFields, type Readable, variants } from '../../json/read-fields.ts';
import type { ConceptWords } from '../../model/concept.ts';

const text = fields(['type', 'text', 'cache_control']);
const source = variants('type', {
  base64: fields(['type', 'media_type', 'data']),
  url: fields(['type', 'url']),
  file: fields(['type', 'file_id']),
  text: fields(['type', 'media_type', 'data']),
  // A document of more than texts is carried or refused whole.
  content: fields(['type'], {
    content: variants('type', {
      text: fields(['type', 'text']),
      image: fields(['type', 'source']),
    }),
  }),
});

/** That the model itself calls a tool is usual; a program of its that does is not. */
const caller = variants('type', { direct: 'all' }, { otherKinds: 'by path' });

const blocks = {
  text,
  image: fields(['type', 'cache_control'], { source }),
  document: fields(['type', 'title', 'context', 'cache_control'], {
    source,
    citations: fields(['enabled']),
  }),
  thinking: fields(['type', 'thinking', 'signature']),
  redacted_thinking: fields(['type', 'data']),
  tool_use: fields(['type', 'id', 'name', 'input', 'cache_control'], { caller }),
};
const inResult = variants('type', blocks, { otherKinds: 'by kind' });
const block = variants('type', {
  ...blocks,
  server_tool_use: nativeFields(['type', 'id', 'name', 'input']),
  web_search_tool_result: nativeFields(['type', 'tool_use_id', 'content']),
  tool_result: fields(['type', 'tool_use_id', 'is_error', 'cache_control'], { content: inResult }),
});

/** What stands on a message itself, on functions and in other objects of the request is an extra (`own-fields.ts`). */
export const readable: Readable = openFields({
  system: text,
  messages: openFields({ content: block }),
  tools: variants('type', {
    'web_search*': nativeFields([
      'type',
      'name',
      'max_uses',
      'allowed_domains',
      'blocked_domains',
      'user_location',
    ]),
  }),
  output_config: openFields({ format: fields(['type', 'schema']) }),
  output_format: fields(['type', 'schema']),
  tool_choice: fields(['type', 'name', 'disable_parallel_tool_use']),
});

export const otherWords: ConceptWords = {
  reasoning: { thinking: ['thinking'], 'output_config.effort': ['output_config.effort'] },
  searchDomains: {
    'tools.web_search.allowed_domains': ['tools.allowed_domains'],
    'tools.web_search.blocked_domains': ['tools.blocked_domains'],
  },
  toolCalls: { tool_use: ['messages.content.input'], tool_result: ['messages.content.tool_use_id'] },
};
