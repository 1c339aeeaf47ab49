import { toolBatchStatus, toolChange, toolSettings, toolSettingsInput } from '../tools/schema.ts';
import { changeFailures, failures, flag, json, text } from './openapi/fixed.ts';
import type { JsonSchema } from './openapi/json-schema.ts';
import { permissionText, schemaOf } from './openapi/paths.ts';
import type { Operation, PathItem } from './openapi/reference.ts';

const tag = 'cli-tools';

/** What the tag of these paths says. */
export const cliToolsTag = {
  name: tag,
  description:
    'The endpoints of the coding tools on the gateway’s machine, and pointing tools at this gateway',
};

const query = (name: string, description: string, schema: JsonSchema = text) => ({
  name,
  in: 'query',
  description,
  schema,
});
const dryRun = query('dry_run', 'Change nothing, and show what would be changed', flag);

/** The paths below `/api/cli-tools`. */
export function cliToolsPaths(): Record<string, PathItem> {
  const map: JsonSchema = { type: 'object', additionalProperties: schemaOf(toolBatchStatus, 'output') };
  const changed = { 200: { description: 'What changed', content: json(schemaOf(toolChange, 'output')) } };
  return {
    '/api/cli-tools/all-statuses': {
      get: operation(
        'list_tool_statuses',
        'Which tools are installed and which endpoint they use',
        'tools:read',
        {
          parameters: [query('refresh', 'Run the programs again instead of using cached results', flag)],
          responses: { 200: { description: 'By the id of the tool', content: json(map) }, ...failures },
        },
      ),
    },
    '/api/cli-tools/{id}-settings': {
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'The id of the tool', schema: text },
      ],
      get: operation('get_tool_settings', 'How a tool is set up', 'tools:read', {
        responses: {
          200: { description: 'Without secrets', content: json(schemaOf(toolSettings, 'output')) },
          ...failures,
        },
      }),
      post: operation('configure_tool', 'Point a tool at this gateway', 'tools:update', {
        parameters: [dryRun],
        requestBody: { required: false, content: json(schemaOf(toolSettingsInput, 'input')) },
        responses: { ...changed, ...changeFailures },
      }),
      delete: operation('restore_tool', 'Remove what the gateway wrote', 'tools:update', {
        parameters: [
          dryRun,
          query('backup_id', 'Restore the files of this backup and discard all later changes'),
        ],
        responses: { ...changed, ...changeFailures },
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
