import type { Command } from '../../command.ts';
import { requestEvents } from '../../events/events-api.ts';
import { usageError } from '../../terminal/failure.ts';

export const eventsShowCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'version',
      value: 'N',
      kind: 'count',
      summary: 'an earlier version, as `gateway events history` has it',
    },
  ],
  needs: 'server',
  about: 'The YAML as it is in the file, with references to secrets, never their values.',
  examples: [
    { command: 'gateway events show > events.yaml', does: 'the configuration that is in force' },
    { command: 'gateway events show --json', does: '{"version","config":{…}}' },
  ],
  run: async (options, context) => {
    const version = options.count('version');
    if (version !== undefined) {
      const { body } = await requestEvents(context, `/config/versions/${version}`, { method: 'GET' });
      context.io.result(Object(body), () => String(Object(body).text).trimEnd());
      return 0;
    }
    const accept = context.io.json ? 'application/json' : 'application/yaml';
    const { body, headers, text } = await requestEvents(context, '/config', {
      method: 'GET',
      headers: { accept },
    });
    const [, current] = /"(\d+)"/.exec(String(headers.etag)) ?? [];
    if (current === undefined) throw usageError('The gateway does not say which version is in force');
    context.io.result({ version: Number(current), config: body }, () => text.trimEnd());
    return 0;
  },
};
