import { knownChoice } from '../../adapt/allowed-tools.ts';
import { type WrittenTools, writtenTools } from '../../adapt/shared-tools.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Conversation, Tool } from '../../model/conversation.ts';
import { cacheControl } from '../../prompt-cache/cache-control.ts';

export function toolList({ tools }: Conversation, written: WrittenTools | null): readonly JsonObject[] {
  return writtenTools(tools, written, () => tools.flatMap(toolOf));
}

const emptySchema = { type: 'object', properties: {} };

function toolOf(tool: Tool): JsonObject[] {
  switch (tool.kind) {
    case 'function':
      return [
        {
          name: tool.name,
          ...(tool.description === null ? {} : { description: tool.description }),
          // The vendor requires an object at the root of every schema.
          input_schema: { ...emptySchema, ...tool.schema, type: 'object' },
          ...(tool.strict === true ? { strict: true } : {}),
          ...cacheControl(tool),
        },
      ];
    case 'web-search':
      return [searchOf(tool)];
    case 'native':
      return tool.format === 'anthropic-messages' ? [tool.value] : [];
    case 'custom':
      return [];
  }
}

function searchOf(tool: Extract<Tool, { kind: 'web-search' }>): JsonObject {
  if (tool.native.format === 'anthropic-messages') return tool.native.value;
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(tool.maxUses === null ? {} : { max_uses: tool.maxUses }),
    ...(tool.allowedDomains === null ? {} : { allowed_domains: tool.allowedDomains }),
    // The vendor takes one of the two lists.
    ...(tool.blockedDomains === null || tool.allowedDomains !== null
      ? {}
      : { blocked_domains: tool.blockedDomains }),
    ...(tool.location === null ? {} : { user_location: tool.location }),
  };
}

/** `tool_choice`, which also allows or forbids parallel calls. */
export function choiceOf(conversation: Conversation): JsonObject | undefined {
  const { parallelToolCalls, toolChoice } = conversation;
  if (toolChoice === null && parallelToolCalls !== false) return undefined;
  const parallel = parallelToolCalls === null ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  // The format has no word for some of the tools.
  const choice = knownChoice(conversation);
  switch (choice?.kind) {
    case 'none':
      return { type: 'none' };
    case 'required':
      return { type: 'any', ...parallel };
    case 'tool':
      return { type: 'tool', name: choice.name, ...parallel };
    default:
      return { type: 'auto', ...parallel };
  }
}
