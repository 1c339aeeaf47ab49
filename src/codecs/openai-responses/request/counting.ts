import { countIn } from '../../json/values.ts';
import { type Counting, onlyFields } from '../../usage/counting.ts';
import type { ResponsesCounts, ResponsesRequest } from '../wire.ts';

/** OpenAI API reference, "Get input token counts". */
const inputFields: ReadonlySet<string> = new Set<keyof ResponsesRequest>([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'reasoning',
  'text',
  'truncation',
  'parallel_tool_calls',
  'previous_response_id',
  'conversation',
]);

export const counting: Counting = {
  path: '/input_tokens',
  ask: (request) => onlyFields(request, (name) => inputFields.has(name)),
  read: ({ input_tokens }: ResponsesCounts) => countIn(input_tokens),
  write: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
