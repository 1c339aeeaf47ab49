import { useTranslation } from 'react-i18next';
import { CodeBlock } from './code-block.tsx';

/** What the management API says of a tool that is pointed at the gateway by hand. */
export interface HandMadeTool {
  by_hand: {
    files: readonly { path: string; text: string }[];
    environment: Readonly<Record<string, string>>;
    steps: readonly string[];
  };
  base_url_has_version: boolean;
}

interface ByHandProps {
  tool: HandMadeTool;
  /** `root` is the gateway's address; null leaves a placeholder. */
  values: { root: string; apiKey: string | null; model: string | null };
}

/** The files, variables and steps that point a tool at the gateway, to be copied. */
export function ByHand({ tool, values }: ByHandProps) {
  const { t } = useTranslation();
  const { environment, files, steps } = tool.by_hand;
  const variables = Object.entries(environment).map(
    ([name, text]) => `export ${name}=${filled(text, tool, values)}`,
  );
  return (
    <div className="flex flex-col gap-3">
      {files.map(({ path, text }) => (
        <div key={path}>
          <p className="mb-1 text-muted text-xs [overflow-wrap:anywhere]">{t('byHand.file', { path })}</p>
          <CodeBlock code={filled(text, tool, values)} />
        </div>
      ))}
      {variables.length > 0 && (
        <div>
          <p className="mb-1 text-muted text-xs">{t('byHand.environment')}</p>
          <CodeBlock code={variables.join('\n')} />
        </div>
      )}
      {steps.length > 0 && (
        <ol className="list-decimal ps-5">
          {steps.map((step) => (
            <li key={step}>{filled(step, tool, values)}</li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** A text of the catalogue with the placeholders filled in. */
export function filled(
  text: string,
  { base_url_has_version }: HandMadeTool,
  values: ByHandProps['values'],
): string {
  const { apiKey, model, root } = values;
  const parts: Readonly<Record<string, string>> = {
    base_url: base_url_has_version ? `${root}/v1` : root,
    api_key: apiKey ?? 'sk-…',
    model: model ?? 'auto',
  };
  return text.replace(/<(base_url|api_key|model)>/g, (whole, name: string) => parts[name] ?? whole);
}
