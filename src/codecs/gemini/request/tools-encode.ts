import { type WrittenTools, writtenTools } from '../../adapt/shared-tools.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Conversation, FunctionTool, Tool, ToolChoice } from '../../model/conversation.ts';

/** `tools`: all functions in one, then each of the vendor's own. */
export function toolList({ tools }: Conversation, written: WrittenTools | null): readonly JsonObject[] {
  return writtenTools(tools, written, () => entriesOf(tools));
}

function entriesOf(tools: readonly Tool[]): JsonObject[] {
  const functions = tools.flatMap((tool) => (tool.kind === 'function' ? [declarationOf(tool)] : []));
  const hosted = tools.filter((tool) => functions.length === 0 || !isForeignSearch(tool)).flatMap(hostedOf);
  return [...(functions.length === 0 ? [] : [{ functionDeclarations: functions }]), ...hosted];
}

/**
 * A search that the client asked for in another format. It is left out beside functions: models before Gemini 3 refuse
 * both together, and later ones return calls of the search that such a client could not send back.
 */
function isForeignSearch(tool: Tool): boolean {
  return tool.kind === 'web-search' && tool.native.format !== 'gemini';
}

function declarationOf({ description, name, schema }: FunctionTool): JsonObject {
  return {
    name,
    ...(description === null ? {} : { description }),
    // Omitted without properties: the vendor refuses an object without any in its own schema language.
    ...(schema === null ? {} : { parametersJsonSchema: schema }),
  };
}

function hostedOf(tool: Tool): JsonObject[] {
  switch (tool.kind) {
    case 'web-search':
      if (!isForeignSearch(tool)) return [tool.native.value];
      return [{ googleSearch: {} }];
    case 'native':
      return tool.format === 'gemini' ? [tool.value] : [];
    case 'function':
    case 'custom':
      return [];
  }
}

/** `toolConfig`; undefined without a choice, or without a function to choose. */
export function toolConfigOf({ toolChoice, tools }: Conversation): JsonObject | undefined {
  const names = new Set(tools.flatMap((tool) => (tool.kind === 'function' ? [tool.name] : [])));
  if (toolChoice === null || names.size === 0) return undefined;
  return { functionCallingConfig: choiceOf(toolChoice, names) };
}

function choiceOf(choice: ToolChoice, toolNames: ReadonlySet<string>): JsonObject {
  switch (choice.kind) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return narrowed('ANY', [choice.name], toolNames);
    case 'allowed':
      // In the mode AUTO the vendor takes no names.
      return narrowed(choice.required ? 'ANY' : 'VALIDATED', choice.names, toolNames);
  }
}

function narrowed(mode: string, names: readonly string[], toolNames: ReadonlySet<string>): JsonObject {
  const allowed = names.filter((name) => toolNames.has(name));
  if (allowed.length > 0) return { mode, allowedFunctionNames: allowed };
  return { mode: mode === 'VALIDATED' ? 'AUTO' : mode };
}
