import { z } from 'zod';
import type { Action, Caller, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { customTool } from './custom/schema.ts';
import { toolRow } from './schema.ts';
import type { ToolService } from './service.ts';

export interface ToolsInput {
  service: Pick<ToolService, 'row' | 'rows' | 'prove' | 'add' | 'remove'>;
  /** Whether a caller may have programs of this machine run. */
  mayRun(caller: Caller): boolean;
}

/** The catalogue of coding tools and agents, with where each points on the machine of the gateway. */
export function toolsResource({ mayRun, service }: ToolsInput): Resource {
  return {
    name: 'tools',
    title: 'Coding tools',
    summary: 'Coding tools and agents on the machine of the gateway, and which endpoints they use.',
    record: toolRow,
    read: 'tools:read',
    list: service.rows,
    find: service.row,
    create: {
      permission: 'tools:update',
      input: customTool,
      run: async (input) => ({ row: await service.add(input) }),
    },
    remove: {
      permission: 'tools:update',
      possible: isDescribed,
      run: (row) => service.remove(row.id),
    },
    actions: { test: testAction({ mayRun, service }) },
  };
}

const testInput = z.strictObject({
  /** The gateway key to try; the tool's own when absent, and the owner's where that is not known. */
  api_key: z.string().trim().min(1, 'give a key, or leave it out').max(500).optional(),
  /** The model to try; the tool's own when absent. */
  model: z.string().trim().min(1, 'name a model, or leave it out').max(300).optional(),
});

function testAction({ mayRun, service }: ToolsInput): Action {
  return {
    summary:
      'Sends the request that the tool sends through the gateway to a model, which costs as much as any request.',
    permission: 'tools:update',
    input: testInput,
    beside: true,
    perMinute: 20,
    preview: async (row) => ({ success: true, message: `A request of ${nameOf(row)} would be sent` }),
    async run(row, body, caller) {
      const { api_key = null, model = null } = testInput.parse(body);
      const runsProgram = mayRun(caller);
      const proof = await service.prove(row.id, { apiKey: api_key, model, runsProgram });
      if (proof === null)
        throw new GatewayError('not_found', `The tool ${nameOf(row)} was removed in the meantime`);
      const { answered, checks, requestId } = proof;
      const failed = checks.find(({ status }) => status === 'fail');
      const passed = answered && failed === undefined;
      const came = answered ? 'was answered' : 'was not answered';
      return {
        // What was asked for was done; `passed` says what came of it.
        success: true,
        message: failed?.message ?? `A request of ${nameOf(row)} ${came}`,
        result: { passed, answered, checks, model: proof.model, request_id: requestId },
      };
    },
  };
}

/** Those of the catalogue stay. */
function isDescribed(row: Row): boolean {
  return row['configType'] === 'custom-builder' && row.id !== 'custom';
}

function nameOf(row: Row): string {
  return String(row['name']);
}
