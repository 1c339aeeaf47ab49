import { type Plan, requestBody } from './plan.ts';

interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface ChatRequest {
  messages: ChatMessage[];
  tools?: { function: { name: string; description: string; parameters: object } }[];
  stream?: boolean;
}

/** The plan's request as Anthropic's clients would send it: the same words, calls, results and tools. */
export function messagesBody(plan: Plan, model: string): Buffer {
  const chat = JSON.parse(requestBody(plan, model).toString()) as ChatRequest;
  const [system, ...turns] = chat.messages;
  const request = {
    model,
    max_tokens: 8_192,
    system: [{ type: 'text', text: system?.content, cache_control: { type: 'ephemeral' } }],
    messages: turns.map(messageOf),
    tools: chat.tools?.map(({ function: { description, name, parameters } }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    stream: chat.stream,
  };
  return Buffer.from(JSON.stringify(request));
}

function messageOf({ content, role, tool_call_id, tool_calls }: ChatMessage): object {
  if (role === 'tool')
    return { role: 'user', content: [{ type: 'tool_result', tool_use_id: tool_call_id, content }] };
  const uses = tool_calls?.map(({ function: { arguments: input, name }, id }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(input) as object,
  }));
  return { role, content: uses ?? content };
}
