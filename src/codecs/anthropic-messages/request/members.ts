import { members, nativeMembers, openMembers, type Readable, variants } from '../../json/read-members.ts';
import type { ConceptWords } from '../../model/concept.ts';

const text = members(['type', 'text', 'cache_control']);
const source = variants('type', {
  base64: members(['type', 'media_type', 'data']),
  url: members(['type', 'url']),
  file: members(['type', 'file_id']),
  text: members(['type', 'media_type', 'data']),
  // A document of more than texts is carried or refused whole.
  content: members(['type'], {
    content: variants('type', {
      text: members(['type', 'text']),
      image: members(['type', 'source']),
    }),
  }),
});

/** That the model itself calls a tool is usual; a program of its that does is not. */
const caller = variants('type', { direct: 'all' }, { otherKinds: 'by path' });

const blocks = {
  text,
  image: members(['type', 'cache_control'], { source }),
  document: members(['type', 'title', 'context', 'cache_control'], {
    source,
    citations: members(['enabled']),
  }),
  thinking: members(['type', 'thinking', 'signature']),
  redacted_thinking: members(['type', 'data']),
  tool_use: members(['type', 'id', 'name', 'input', 'cache_control'], { caller }),
};
const inResult = variants('type', blocks, { otherKinds: 'by kind' });
const block = variants('type', {
  ...blocks,
  server_tool_use: nativeMembers(['type', 'id', 'name', 'input']),
  web_search_tool_result: nativeMembers(['type', 'tool_use_id', 'content']),
  tool_result: members(['type', 'tool_use_id', 'is_error', 'cache_control'], { content: inResult }),
});

/** What stands on a message itself, on functions and in other objects of the request is an extra (`own-members.ts`). */
export const readable: Readable = openMembers({
  system: text,
  messages: openMembers({ content: block }),
  tools: variants('type', {
    'web_search*': nativeMembers([
      'type',
      'name',
      'max_uses',
      'allowed_domains',
      'blocked_domains',
      'user_location',
    ]),
  }),
  output_config: openMembers({ format: members(['type', 'schema']) }),
  output_format: members(['type', 'schema']),
  tool_choice: members(['type', 'name', 'disable_parallel_tool_use']),
});

export const otherWords: ConceptWords = {
  reasoning: { thinking: ['thinking'], 'output_config.effort': ['output_config.effort'] },
  searchDomains: {
    'tools.web_search.allowed_domains': ['tools.allowed_domains'],
    'tools.web_search.blocked_domains': ['tools.blocked_domains'],
  },
  toolCalls: { tool_use: ['messages.content.input'], tool_result: ['messages.content.tool_use_id'] },
};
