import { argumentsOf, instructions, question, type Sample } from './sample.ts';

const closed = { additionalProperties: false };
const calls = 'view_image';
const session = '00000000-0000-4000-8000-000000000000';

/** Codex's: messages of a developer, tools in a namespace, a search in the web, reasoning that comes back encrypted. */
export const responsesSample: Sample = {
  path: '/responses',
  headers: {
    'user-agent': 'codex_cli_rs/0.169.0',
    originator: 'codex_cli_rs',
    'x-codex-beta-features': 'remote_compaction_v2',
    'session-id': session,
    'thread-id': session,
  },
  body: {
    model: '<model>',
    stream: true,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: session,
    client_metadata: { session_id: session },
    input: [
      {
        type: 'message',
        id: 'msg_doctor1',
        role: 'developer',
        content: [{ type: 'input_text', text: instructions }],
      },
      {
        type: 'message',
        id: 'msg_doctor2',
        role: 'user',
        content: [{ type: 'input_text', text: question(calls) }],
      },
    ],
    tools: [
      {
        type: 'function',
        name: calls,
        description: 'Shows a file to the model',
        strict: false,
        parameters: argumentsOf({}, closed),
      },
      {
        type: 'function',
        name: 'exec_command',
        description: 'Runs a command',
        strict: false,
        parameters: argumentsOf({ shell: { type: 'array', items: { type: 'string' } } }, closed),
      },
      {
        type: 'namespace',
        name: 'multi_agent_v1',
        description: 'Other agents',
        tools: [
          {
            type: 'function',
            name: 'close_agent',
            description: 'Ends an agent',
            strict: false,
            parameters: argumentsOf({}, closed),
          },
        ],
      },
      { type: 'web_search', external_web_access: false },
    ],
  },
  bytes: 39_402,
  calls,
  seenIn: '@openai/codex@0.169.0',
};
