import { argumentsOf, draft2020, instructions, question, type Sample } from './sample.ts';

const cached = { cache_control: { type: 'ephemeral' } };
const schema = { $schema: draft2020, additionalProperties: false };
const calls = 'Read';

/**
 * Claude Code's: its session in a message of the system behind that of its user, tools that come later, and what it
 * requests of thinking and of the context.
 */
export const messagesSample: Sample = {
  path: '/v1/messages?beta=true',
  headers: {
    'user-agent': 'claude-cli/2.1.329 (external, cli)',
    'anthropic-version': '2023-06-01',
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24',
    'anthropic-dangerous-direct-browser-access': 'true',
    'x-app': 'cli',
    'x-claude-code-session-id': '00000000-0000-4000-8000-000000000000',
    'x-stainless-lang': 'js',
    'x-stainless-retry-count': '0',
  },
  body: {
    model: '<model>',
    max_tokens: 32_000,
    metadata: { user_id: '{"device_id":"doctor","account_uuid":"","session_id":"doctor"}' },
    thinking: { type: 'adaptive', display: 'omitted' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
    stream: true,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329; cc_entrypoint=cli;' },
      { type: 'text', text: instructions, ...cached },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: question(calls) }] },
      { role: 'system', content: [{ type: 'text', text: 'The working folder is /tmp.', ...cached }] },
    ],
    tools: [
      {
        name: calls,
        description: 'Reads a file',
        input_schema: argumentsOf(
          {
            offset: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
            limit: { type: 'integer', exclusiveMinimum: 0 },
          },
          schema,
        ),
      },
      {
        name: 'ReportFindings',
        description: 'Reports what was found',
        input_schema: argumentsOf(
          {
            findings: { type: 'array', maxItems: 32, items: { type: 'string', maxLength: 500 } },
            level: { type: 'string', enum: ['low', 'high'] },
          },
          schema,
        ),
      },
      {
        name: 'Workflow',
        description: 'Runs a script',
        input_schema: argumentsOf({ run: { type: 'string', pattern: '^wf_' } }, schema),
      },
      {
        name: 'DeferredToolPlaceholder',
        description: 'Stands for tools that come later',
        input_schema: { type: 'object', properties: {} },
        defer_loading: true,
      },
    ],
  },
  bytes: 48_696,
  calls,
  seenIn: '@anthropic-ai/claude-code@2.1.329',
};
