import { isObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { flagAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type { Tool, ToolChoice } from '../../model/conversation.ts';
import type {
  AllowedTools,
  Called,
  CustomFormat,
  Grammar,
  ToolChoiceOption,
  ToolDescription,
  ToolOffer,
} from '../wire.ts';
import { cacheOf } from './messages-decode.ts';

export function readTools(tools: readonly unknown[]): Tool[] {
  return tools.map((tool, index) => readTool(tool, `tools[${index}]`));
}

function readTool(tool: unknown, path: string): Tool {
  if (!isObject(tool)) throw wrong(path, 'an object');
  const offer: ToolOffer = tool;
  switch (offer.type ?? 'function') {
    case 'function': {
      // Some clients send the flat form of the responses format.
      const definition: ToolDescription = objectAt(offer, 'function', `${path}.function`) ?? offer;
      const schema = objectAt(definition, 'parameters', `${path}.function.parameters`);
      return {
        kind: 'function',
        ...nameAndDescription(definition, `${path}.function`),
        schema,
        strict: flagAt(definition, 'strict'),
        ...cacheOf(offer),
      };
    }
    case 'custom': {
      const definition: ToolDescription = objectAt(offer, 'custom', `${path}.custom`) ?? offer;
      return {
        kind: 'custom',
        ...nameAndDescription(definition, `${path}.custom`),
        grammar: grammarOf(objectOf(definition.format)),
      };
    }
    default: {
      const name = textAt(offer, 'type', `${path}.type`) ?? '';
      return { kind: 'native', format: 'openai-chat', name, value: tool };
    }
  }
}

function nameAndDescription(
  description: ToolDescription,
  path: string,
): { name: string; description: string | null } {
  const name = textAt(description, 'name', `${path}.name`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  return { name, description: textAt(description, 'description', `${path}.description`) };
}

function grammarOf(format: CustomFormat): { syntax: string; definition: string } | null {
  if (format.type !== 'grammar') return null;
  const grammar = objectOf<Grammar>(format.grammar);
  return { syntax: textOf(grammar.syntax), definition: textOf(grammar.definition) };
}

/** `tool_choice`: a word, one tool, or the tools that are allowed. */
export function readChoice(choice: unknown): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (choice === 'any') return { kind: 'required' };
  if (!isObject(choice)) throw wrong('tool_choice', '"auto", "none", "required" or an object');
  const { allowed_tools, type }: ToolChoiceOption = choice;
  if (type === 'allowed_tools') {
    const allowed = objectOf<AllowedTools>(allowed_tools);
    const names = listOf(allowed.tools)
      .map(nameIn)
      .filter((name) => name !== '');
    return { kind: 'allowed', names, required: allowed.mode === 'required' };
  }
  const name = nameIn(choice);
  if (name === '') throw wrong('tool_choice', 'an object with the name of a tool');
  return { kind: 'tool', name };
}

function nameIn(tool: unknown): string {
  const { custom, function: called, name } = objectOf<ToolChoiceOption>(tool);
  return textOf(objectOf<Called>(called).name) || textOf(objectOf<Called>(custom).name) || textOf(name);
}
