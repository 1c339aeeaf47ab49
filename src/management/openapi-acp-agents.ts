import { agentChange, newAgentInput } from '../agents/registry/schema.ts';
import { acpAgentsCollection } from './acp-agents.ts';
import { changeExamples, createExamples } from './openapi/examples/inputs.ts';
import { anyObject, changeFailures, failures, json, ref, text } from './openapi/fixed.ts';
import type { JsonSchema } from './openapi/json-schema.ts';
import { permissionText, schemaName, schemaOf } from './openapi/paths.ts';
import type { Operation, PathItem } from './openapi/reference.ts';

const tag = 'acp';

/** What the tag of these paths says. */
export const acpAgentsTag = {
  name: tag,
  description:
    'The ACP agents of the gateway’s machine, with a summary: the collection `acp_agents` in another form',
};

const agent = ref(schemaName({ name: acpAgentsCollection }));
const number: JsonSchema = { type: 'integer' };
const counts = ['total', 'installed', 'not_found', 'built_in', 'custom', 'enabled', 'usable'];
const list: JsonSchema = {
  type: 'object',
  required: ['agents', 'summary'],
  properties: {
    agents: { type: 'array', items: agent },
    summary: {
      type: 'object',
      required: counts,
      properties: Object.fromEntries(counts.map((name) => [name, number])),
    },
    unusable: {
      type: 'array',
      description: 'Agents that cannot be started as a backend, and why',
      items: { type: 'object', properties: { id: text, name: text, reason: text } },
    },
    refreshed: { type: 'boolean' },
  },
};
const action: JsonSchema = {
  type: 'object',
  required: ['action'],
  properties: {
    action: { type: 'string', enum: ['refresh', 'test', 'enable', 'disable'] },
    id: text,
  },
};

/** The paths below `/api/acp`. */
export function acpAgentsPaths(): Record<string, PathItem> {
  const one = { 200: { description: 'The agent', content: json(agent) } };
  return {
    '/api/acp/agents': {
      get: operation('list_agents', 'Which agents there are, and which can be used', 'agents:read', {
        responses: { 200: { description: 'All agents', content: json(list) }, ...failures },
      }),
      post: operation(
        'add_agent',
        'Add an agent, or with `action` test one or search for all programs again',
        'agents:create',
        {
          requestBody: {
            required: true,
            content: json(
              { oneOf: [schemaOf(newAgentInput, 'input'), action] },
              createExamples[acpAgentsCollection],
            ),
          },
          responses: {
            200: {
              description: 'The agent that was added, the result of the action, or the list',
              content: json(anyObject),
            },
            ...changeFailures,
          },
        },
      ),
    },
    '/api/acp/agents/{id}': {
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'The id of the agent', schema: text },
      ],
      get: operation('get_agent', 'One agent', 'agents:read', { responses: { ...one, ...failures } }),
      patch: operation('change_agent', 'Enable or disable it, or change its settings', 'agents:update', {
        requestBody: {
          required: true,
          content: json(schemaOf(agentChange, 'input'), changeExamples[acpAgentsCollection]),
        },
        responses: { ...one, ...changeFailures },
      }),
      delete: operation('remove_agent', 'Delete an agent that was added', 'agents:delete', {
        responses: { 204: { description: 'Deleted' }, ...changeFailures },
      }),
    },
  };
}

function operation(
  operationId: string,
  summary: string,
  permission: string,
  rest: Pick<Operation, 'parameters' | 'requestBody' | 'responses'>,
): Operation {
  return { operationId, summary, tags: [tag], ...permissionText(permission), ...rest };
}
