import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { gatewayUrl } from '../../lib/base-path.ts';
import type { Cli } from './queries.ts';

/** A tool that was found on the gateway's machine. */
export interface FoundTool {
  id: string;
  name: string;
  /** Whether it is pointed at the gateway by its environment, so that nothing of it is written. */
  launchable: boolean;
}

interface CommandsProps {
  /** Null where the program cannot be called. */
  cli: Cli | null;
  /** The text of the gateway key. */
  apiKey: string;
  model: string;
  tools: readonly FoundTool[];
}

const CURL = 'curl';

/** A command to copy for a tool that is installed here, or with curl. */
export function Commands({ apiKey, cli, model, tools }: CommandsProps) {
  const { t } = useTranslation('setup');
  const offered = cli === null ? [] : tools;
  const [chosen, setChosen] = useState(offered[0]?.id ?? CURL);
  const tool = offered.find(({ id }) => id === chosen) ?? null;
  const command = tool === null || cli === null ? curl(apiKey, model) : launch(tool, cli, model);
  return (
    <div className="flex flex-col gap-2">
      <fieldset aria-label={t('command.with')} className="flex flex-wrap gap-1">
        {[...offered, { id: CURL, name: 'curl' }].map(({ id, name }) => (
          <Button
            key={id}
            aria-pressed={id === chosen}
            variant={id === chosen ? 'secondary' : 'quiet'}
            onClick={() => setChosen(id)}
          >
            {name}
          </Button>
        ))}
      </fieldset>
      <CodeBlock code={command} />
      <p className="text-muted text-xs">
        {tool === null
          ? t('command.curl')
          : t(tool.launchable ? 'command.launch' : 'command.configure', { name: tool.name })}
      </p>
    </div>
  );
}

function launch({ id, launchable }: FoundTool, { flags, program }: Cli, model: string): string {
  return `${program} ${launchable ? 'launch' : 'tools configure'} ${id} --model ${model}${flags}`;
}

function curl(apiKey: string, model: string): string {
  const body = { model, messages: [{ role: 'user', content: 'hello' }] };
  return `curl ${gatewayUrl()}/v1/chat/completions \\\n  -H 'authorization: Bearer ${apiKey}' \\\n  -H 'content-type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}
